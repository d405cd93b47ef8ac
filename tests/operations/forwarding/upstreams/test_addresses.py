"""No hostile address is dialled: not when it is saved, used, redirected to or resolved later."""

import ssl
from collections.abc import Sequence
from typing import Any

import httpcore
import pytest
import uvicorn
from django.test import override_settings

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.models import Project
from operations.forwarding.upstreams import dialing, services
from operations.forwarding.upstreams.addresses import forbidden, read_base
from operations.forwarding.upstreams.dialing import (
    AddressRefused,
    GuardedBackend,
    new_pool,
)
from operations.forwarding.upstreams.services import WireProvider, set_upstream
from operations.models import Upstream

from .hostile import ADDRESSES, EVERY, PLAIN

PUBLIC = "93.184.216.34"
NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "api.localhost": ["::1"],
    "localhost.localdomain": ["127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "api.example.com": [PUBLIC],
}


class Dials(httpcore.AsyncNetworkBackend):
    """A network that nobody reaches: it notes who was called."""

    def __init__(self) -> None:
        self.called: list[tuple[str, int]] = []

    async def connect_tcp(
        self, host: str, port: int, *_: Any, **__: Any
    ) -> httpcore.AsyncNetworkStream:
        self.called.append((host, port))
        raise httpcore.ConnectError("not in a test")


async def find(host: str, port: int) -> Sequence[str]:
    """A resolver without a network; an IP address is its own, as `getaddrinfo` has it."""
    if host[0].isdigit() or ":" in host:
        return [host]
    if host not in NAMES:
        raise OSError("unknown")
    return NAMES[host]


@pytest.fixture(autouse=True)
def resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialing, "resolve", find)
    monkeypatch.setattr(dialing.checked_addresses, "__defaults__", (find,))


def test_there_are_enough_hostile_addresses() -> None:
    assert len(set(EVERY)) == len(EVERY) >= 120
    assert len(ADDRESSES) >= 60


def test_no_hostile_address_is_saved(caller: Caller, project: Project) -> None:
    for url in EVERY:
        with pytest.raises(Invalid) as refused:
            set_upstream(
                caller, "demo", WireProvider.OPENAI, base_url=url, api_key="sk-1"
            )
        assert refused.value.at == ("base_url",), url
    assert not Upstream.objects.exists()


async def test_no_hostile_address_that_was_saved_is_called() -> None:
    """As where the database was written to, or the rules were wider when it was saved."""
    dials, looked_up = Dials(), 0
    for url in EVERY:
        try:
            base = read_base(url, private=False)
        except Invalid:
            continue
        looked_up += 1
        with pytest.raises((AddressRefused, httpcore.ConnectError)):
            await GuardedBackend(dials, find).connect_tcp(base.host, base.port, 1)
        assert not dials.called, url
    assert looked_up > 60


async def test_no_name_is_called_once_it_leads_to_a_hostile_address() -> None:
    """The name was fine when it was saved, and is again when it is asked for later."""
    for address in ADDRESSES:
        dials = Dials()
        answers = [[PUBLIC], [address], [PUBLIC, address], [address, PUBLIC]]

        async def rebound(
            host: str, port: int, answers: list[list[str]] = answers
        ) -> Sequence[str]:
            return answers.pop(0)

        backend = GuardedBackend(dials, rebound)
        with pytest.raises(httpcore.ConnectError):
            await backend.connect_tcp("api.example.com", 443, 1)
        for _ in range(3):
            with pytest.raises(AddressRefused):
                await backend.connect_tcp("api.example.com", 443, 1)
        assert dials.called == [(PUBLIC, 443)], address


async def test_what_was_checked_is_what_is_dialled_though_the_name_changes() -> None:
    dials, asked = Dials(), 0

    async def flipping(host: str, port: int) -> Sequence[str]:
        nonlocal asked
        asked += 1
        return [PUBLIC] if asked % 2 else ["127.0.0.1"]

    with pytest.raises(httpcore.ConnectError):
        await GuardedBackend(dials, flipping).connect_tcp("api.example.com", 443, 1)
    assert dials.called == [(PUBLIC, 443)]
    assert asked == 1


@pytest.mark.parametrize("scheme", ["http", "https", "socks5"])
@pytest.mark.parametrize("name", ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"])
async def test_proxies_of_the_environment_are_not_called(
    monkeypatch: pytest.MonkeyPatch, name: str, scheme: str
) -> None:
    for spelled in (name, name.lower()):
        monkeypatch.setenv(spelled, f"{scheme}://127.0.0.1:3128")
    dials = Dials()
    pool = new_pool(GuardedBackend(dials, find))
    with pytest.raises(httpcore.ConnectError):
        await pool.request("POST", "https://api.example.com/v1/chat/completions")
    await pool.aclose()
    assert dials.called == [(PUBLIC, 443)]


class Redirecting(httpcore.AsyncMockBackend):
    """A server that redirects, and notes whom else it is asked for."""

    def __init__(self, location: str) -> None:
        answer = f"HTTP/1.1 307 Temporary\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
        super().__init__([answer.encode()])
        self.called: list[str] = []

    async def connect_tcp(self, host: str, *args: Any, **named: Any) -> Any:
        self.called.append(host)
        return await super().connect_tcp(host, *args, **named)


async def test_no_redirect_is_followed() -> None:
    for url in (*PLAIN, "https://elsewhere.example.com/steal"):
        network = Redirecting(url)
        pool = new_pool(GuardedBackend(network, find))
        answer = await pool.request(
            "POST",
            "https://api.example.com/v1/chat/completions",
            headers={"Authorization": "Bearer sk-1"},
        )
        await pool.aclose()
        assert answer.status == 307
        assert network.called == [PUBLIC], url


async def test_tls_has_the_name_though_an_address_is_dialled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str | None] = []
    trusted: list[ssl.SSLContext] = []

    class Stream(httpcore.AsyncMockStream):
        async def start_tls(
            self,
            ssl_context: ssl.SSLContext,
            server_hostname: str | None = None,
            timeout: float | None = None,
        ) -> httpcore.AsyncNetworkStream:
            asked.append(server_hostname)
            trusted.append(ssl_context)
            return self

    class Network(Dials):
        async def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> Any:
            self.called.append((host, port))
            return Stream([b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])

    network = Network()
    pool = new_pool(GuardedBackend(network, find))
    await pool.request("GET", "https://api.example.com/")
    await pool.aclose()
    assert (asked, network.called) == (["api.example.com"], [(PUBLIC, 443)])
    assert trusted[0].check_hostname
    assert trusted[0].verify_mode is ssl.CERT_REQUIRED
    another = new_pool(GuardedBackend(network, find))
    await another.request("GET", "https://api.example.com/")
    await another.aclose()
    assert trusted[1] is trusted[0]  # the authorities are read once a process


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "127.0.0.1", "::1", "fd12::1", "192.168.1.5", "100.64.0.1"]
)
def test_private_addresses_are_called_where_the_operator_allows_it(
    address: str,
) -> None:
    assert forbidden([address], private=True) is None
    assert forbidden([address], private=False) == address


@pytest.mark.parametrize(
    "address",
    [
        *("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "0.0.0.0", "fe80::1"),
        *("224.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "168.63.129.16"),
    ],
)
def test_what_clouds_tell_their_machines_is_never_asked(address: str) -> None:
    assert forbidden([address], private=True) == address


@pytest.mark.parametrize(
    "url", ["https://api.openai.com/v1/", "https://[2606:4700::1111]"]
)
def test_a_public_provider_is_fine(url: str) -> None:
    base = read_base(url, private=False)
    assert str(base) == url.rstrip("/")


@override_settings(ALLOW_PRIVATE_UPSTREAMS=True)
def test_a_key_stays_only_while_the_origin_does(
    caller: Caller, project: Project
) -> None:
    def put(url: str, key: str | None = None) -> str:
        set_upstream(caller, "demo", WireProvider.OPENAI, base_url=url, api_key=key)
        return services.target_of(project.pk, WireProvider.OPENAI).api_key

    assert put("https://api.example.com/v1", "sk-1") == "sk-1"
    assert put("https://api.example.com/v2") == "sk-1"
    assert put("https://api.example.com:8443/v2") == ""
    assert put("https://api.example.com/v1") == ""
    assert put("https://api.example.com/v1", "sk-2") == "sk-2"
    assert put("https://api.example.com/v1", "") == ""


def test_a_connection_without_tls_is_given_up_before_a_server_of_models_closes_it() -> (
    None
):
    """Else a request that comes just then would fail."""
    kept = new_pool(GuardedBackend(), "http")._keepalive_expiry
    assert kept is not None
    assert kept < uvicorn.Config("").timeout_keep_alive


def test_a_key_lies_encrypted_and_opens_at_its_place_alone(
    caller: Caller, project: Project
) -> None:
    url = "https://api.example.com"
    set_upstream(caller, "demo", WireProvider.OPENAI, base_url=url, api_key="sk-secret")
    row = Upstream.objects.get()
    assert b"sk-secret" not in bytes(row.sealed_key)
    Upstream.objects.update(base_url="https://evil.example.com")
    with pytest.raises(Invalid, match="enter it again"):
        services.target_of(project.pk, WireProvider.OPENAI)
    Upstream.objects.update(base_url=url, provider="anthropic")
    with pytest.raises(Invalid, match="enter it again"):
        services.target_of(project.pk, WireProvider.ANTHROPIC)
