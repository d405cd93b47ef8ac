"""Decides which addresses an upstream may have: its base URL, and the IP addresses of its host.

A base URL is chosen by an administrator of a project, but the server that calls it is in the same
network as its operator's other machines. So the URL is parsed by a separate grammar, narrower
than that of URLs, and every address of its host is checked against the lists below, when it is
saved and again each time a connection is made.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from contextstudio.accounts.domain.errors import Invalid

MAX_CHARACTERS = 500
_AT = ("base_url",)
_URL = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<path>(?:/[A-Za-z0-9._~!$&'()*+,;=:@-]+)*)/?"
)
_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")
_PORTS = {"https": 443, "http": 80}

_ENDPOINT = re.compile(
    r"/(?:chat/)?completions$|/responses$|/messages$|(?:/models)?/[^/]+:\w*[gG]enerateContent$"
)
"""How the paths of single requests end."""


def _networks(*texts: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(text) for text in texts)


_PRIVATE = _networks(
    *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    *("127.0.0.0/8", "100.64.0.0/10"),
    *("::1/128", "fc00::/7"),
)
"""Dialled only if the operator allows it: this machine, and private networks."""
_NEVER = _networks(
    # This network, protocols, relays, documentation, benchmarks, multicast, reserved.
    *("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24"),
    *(
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    ),
    # Clouds serve metadata to their machines at these, including credentials.
    *("100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::/32", "fd20:ce::/32"),
    # In the public half of IPv6: protocols and Teredo, documentation, 6to4.
    *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
)
_PUBLIC_IPV6 = IPv6Network("2000::/3")
"""All allocated public IPv6 space; addresses that translate or embed others are outside it."""


@dataclass(frozen=True, slots=True)
class BaseAddress:
    """The parsed base URL of an upstream."""

    scheme: str
    host: str
    """A name in lower case, or an IP address without brackets."""
    port: int
    path: str
    """Empty, or starting with a slash and not ending with one."""

    @property
    def origin(self) -> str:
        """Scheme, host and port: the only place where a key stored for it may go."""
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        """Host and port as in the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.origin}{self.path}"


def read_base(url: str, *, private: bool) -> BaseAddress:
    """Parse a base URL. Raises Invalid for anything but a plain one.

    `private` says that the operator allows addresses in private networks, where services often
    have neither TLS nor the usual port.
    """
    found = _URL.fullmatch(url) if len(url) <= MAX_CHARACTERS else None
    if found is None or {"..", "."} & set(found["path"].split("/")):
        raise Invalid(
            "A base URL looks like https://api.example.com/v1: no user name, query or fragment, "
            "and a host in ASCII.",
            at=_AT,
        )
    scheme = found["scheme"]
    base = BaseAddress(
        scheme,
        _host(found["host"]),
        int(found["port"] or _PORTS[scheme]),
        found["path"],
    )
    if base.port > 0xFFFF:
        raise Invalid("The port must be a number up to 65535.", at=_AT)
    if (base.scheme, base.port) != ("https", 443) and not private:
        raise Invalid(
            "A base URL uses https and port 443, unless the operator allows others with "
            "CONTEXTSTUDIO_ALLOW_PRIVATE_UPSTREAMS.",
            at=_AT,
        )
    return base


def endpoint_of(base: BaseAddress) -> str:
    """The end of a base URL that belongs to single requests only; empty if there is none."""
    found = _ENDPOINT.search(base.path)
    return found[0] if found else ""


def _host(text: str) -> str:
    """A host as it is resolved; IP addresses are accepted only in their usual spelling."""
    try:
        if text.startswith("["):
            return str(IPv6Address(text[1:-1]))
        labels = text.removesuffix(".").split(".")
        # A resolver might read these as addresses: 127.1, 0x7f000001, 017700000001.
        if _NUMBER.fullmatch(labels[-1]):
            return str(IPv4Address(text))
    except ValueError:
        raise Invalid("The host is not a valid IP address.", at=_AT) from None
    if not all(map(_LABEL.fullmatch, labels)):
        raise Invalid("The host is not a valid host name.", at=_AT)
    return ".".join(labels).lower()


def forbidden(addresses: Iterable[str], *, private: bool) -> str | None:
    """The first of some IP addresses that may not be dialled; None if all may.

    All of them are checked, not just the one that would be tried first: a host with one public
    and one private address is an attack.
    """
    return next((one for one in addresses if not _may_dial(one, private)), None)


def _may_dial(text: str, private: bool) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return False
        if address.ipv4_mapped is not None:
            address = address.ipv4_mapped
    if any(address in network for network in _NEVER):
        return False
    if any(address in network for network in _PRIVATE):
        return private
    return isinstance(address, IPv4Address) or address in _PUBLIC_IPV6
