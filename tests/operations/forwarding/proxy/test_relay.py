"""What passes, what doesn't, and what stands where an exchange breaks."""

import json
import random
import socket
from codecs import BOM_UTF8
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.servers import PATIENCE_SECONDS

from .conftest import Proxy
from .forms import MODEL

PATH = "/v1/chat/completions"
ASK = {
    "model": MODEL,
    "stream": True,
    "messages": [{"role": "user", "content": "One two three"}],
}


def post(url: str, **sent: Any) -> httpx.Response:
    return httpx.post(url, timeout=PATIENCE_SECONDS, **sent)


def stream(proxy: Proxy, asked: Any, stop: int | None = None, **headers: str) -> bytes:
    """The bytes of a streamed reply, at least so many of them, then the client goes."""
    got = b""
    with httpx.stream(
        "POST",
        proxy.url + PATH,
        json=asked,
        headers=proxy.headers | headers,
        timeout=PATIENCE_SECONDS,
    ) as reply:
        for chunk in reply.iter_raw():
            got += chunk
            if stop is not None and len(got) >= stop:
                break
    return got


def test_what_nothing_touches_passes_byte_for_byte(proxy: Proxy) -> None:
    body = b'{"model":"m", "messages" : [ {"role":"user","content":"A\\u00e9 1.0"} ],\n "x":1.0}'
    proxy.provider.raw = ([("X-Own", "1"), ("Set-Cookie", "a=b")], b'{"odd" :  1}\n')
    sent = proxy.headers | {"X-Custom": "yes", "Cookie": "contextstudio_session=x"}
    reply = post(proxy.url + PATH, content=body, headers=sent)
    assert reply.content == b'{"odd" :  1}\n'
    assert reply.headers["x-own"] == "1"
    assert "set-cookie" not in reply.headers
    assert "sandbox" in reply.headers["content-security-policy"]
    asked = proxy.provider.last
    assert asked.body == body
    assert asked.header("x-custom") == "yes"
    assert asked.header("cookie") is None


def test_a_byte_order_mark_before_a_body_stays_behind(proxy: Proxy) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "One"}]})
    sent = proxy.headers | {"Content-Type": "application/json"}
    for path in ("/v1/chat/completions", "/v1/files"):
        post(proxy.url + path, content=BOM_UTF8 + body.encode(), headers=sent)
        kept = BOM_UTF8 if path == "/v1/files" else b""
        assert proxy.provider.last.body == kept + body.encode()
    assert [one["content"] for one in proxy.messages()][:1] == ["One"]


def test_other_addresses_pass_and_keep_nothing(proxy: Proxy) -> None:
    proxy.provider.raw = ([], b"[1]")
    body = b'{"input": "words"}'
    url = f"{proxy.url}/v1/embeddings?a=b%20c"
    assert post(url, content=body, headers=proxy.headers).content == b"[1]"
    assert proxy.provider.last.path == "/v1/embeddings?a=b%20c"
    assert proxy.provider.last.body == body
    assert not proxy.sessions()


def test_a_redirect_is_not_followed(proxy: Proxy) -> None:
    proxy.provider.location = f"{proxy.provider.url}/elsewhere"
    reply = post(proxy.url + PATH, json=ASK, headers=proxy.headers)
    assert reply.status_code == 502
    assert reply.json()["code"] == "upstream_redirects"
    assert len(proxy.provider.asked) == 1


def test_a_provider_that_cannot_be_reached_is_named(proxy: Proxy) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        origin = f"http://127.0.0.1:{closed.getsockname()[1]}"
    proxy.lead("openai", base_url=f"{origin}/v1").raise_for_status()
    reply = post(proxy.url + PATH, json=ASK, headers=proxy.headers)
    assert reply.status_code == 502
    assert reply.json()["detail"] == f"{origin} can't be reached."


def test_a_callers_own_key_passes_beside_ours(proxy: Proxy) -> None:
    sent = {"X-ContextStudio-Key": proxy.key, "Authorization": "Bearer sk-mine"}
    assert post(proxy.url + PATH, json=ASK, headers=sent).status_code == 200
    assert proxy.provider.last.header("authorization") == "Bearer sk-mine"
    assert proxy.provider.last.header("x-contextstudio-key") is None


GEMINI = "/v1beta/models/gemini-2.5-flash:generateContent"
TOLD = {"contents": [{"role": "user", "parts": [{"text": "One"}]}]}


def test_a_callers_own_key_in_the_query_passes_alone(proxy: Proxy) -> None:
    sent = {"X-ContextStudio-Key": proxy.key}
    url = f"{proxy.url}{GEMINI}?key=AIza-mine"
    assert post(url, json=TOLD, headers=sent).status_code == 200
    assert proxy.provider.last.path.endswith("?key=AIza-mine")
    assert proxy.provider.last.header("x-goog-api-key") is None
    proxy.lead("gemini", api_key="").raise_for_status()
    assert post(url, json=TOLD, headers=sent).status_code == 200
    assert post(proxy.url + GEMINI, json=TOLD, headers=sent).status_code == 422


def test_a_key_of_ours_in_the_query_stays_here_however_it_is_spelled(
    proxy: Proxy,
) -> None:
    for word in ("key", "%6Bey", "k%65y"):
        url = f"{proxy.url}{GEMINI}?alt=json&{word}={proxy.key}"
        assert post(url, json=TOLD).status_code == 200
        assert proxy.provider.last.path == f"{GEMINI}?alt=json"
        assert proxy.provider.last.header("x-goog-api-key") == "sk-project"


def test_without_a_key_there_is_no_way_in(proxy: Proxy) -> None:
    for sent in ({}, {"Authorization": "Bearer sk-other"}, {"X-Api-Key": "cs_no_no"}):
        reply = post(proxy.url + PATH, json=ASK, headers=sent)
        assert reply.status_code == 401
        assert reply.headers["www-authenticate"] == "Bearer"
        assert reply.json()["error"]["message"]
    assert not proxy.provider.asked


def test_a_page_in_a_browser_is_not_let_through(proxy: Proxy) -> None:
    """A browser that asks whether a page may send a key is told of no permission."""
    asks = {"Origin": "https://page.example", "Access-Control-Request-Method": "POST"}
    reply = httpx.options(f"{proxy.url}/v1/messages", headers=asks)
    assert reply.status_code == 401
    assert not [name for name in reply.headers if name.startswith("access-control")]
    assert not proxy.provider.asked


def test_half_a_character_is_refused_where_it_stands(proxy: Proxy) -> None:
    """As programs make that cut a text within an emoji: no provider takes it."""
    said = [{"role": "user", "content": "One"}, {"role": "user", "content": "\ud83d"}]
    body = json.dumps({"model": MODEL, "messages": said})
    reply = post(proxy.url + PATH, content=body, headers=proxy.headers)
    assert reply.status_code == 422
    assert reply.json()["at"] == ["messages", 1, "content"]


def test_a_session_is_named_by_header_or_path(proxy: Proxy) -> None:
    sent = proxy.headers | {"X-Session-Id": "mine"}
    first = post(proxy.url + PATH, json=ASK, headers=sent)
    second = post(f"{proxy.url}/s/mine{PATH}", json=ASK, headers=proxy.headers)
    found = {one.headers["x-contextstudio-session"] for one in (first, second)}
    assert found == {proxy.session()["id"]}
    assert proxy.session()["external_id"] == "mine"


def test_a_name_in_a_header_is_read_as_the_same_name_in_a_path(proxy: Proxy) -> None:
    for written in ("Häfen".encode(), "Häfen".encode("latin-1")):
        sent = [(b"Authorization", f"Bearer {proxy.key}".encode())]
        post(proxy.url + PATH, json=ASK, headers=[*sent, (b"X-Session-Id", written)])
    post(f"{proxy.url}/s/H%C3%A4fen{PATH}", json=ASK, headers=proxy.headers)
    assert proxy.session()["external_id"] == "Häfen"


def test_a_name_in_a_path_may_have_a_slash(proxy: Proxy) -> None:
    reply = post(f"{proxy.url}/s/team%2Fboats{PATH}", json=ASK, headers=proxy.headers)
    assert reply.status_code == 200
    assert proxy.session()["external_id"] == "team/boats"


def test_a_base_url_without_its_version_gets_the_errors_of_the_provider(
    proxy: Proxy,
) -> None:
    for address in ("/chat/completions", "/s/mine/chat/completions"):
        reply = post(proxy.url + address, json=ASK, headers=proxy.headers)
        assert reply.status_code == 404
        assert "ends in /v1" in reply.json()["error"]["message"]


def test_a_reply_that_its_client_began_goes_on_the_conversation(proxy: Proxy) -> None:
    """A prefill: the client sends the beginning of the reply, and joins what comes with it."""
    path = f"{proxy.url}/v1/messages"
    asked = {"role": "user", "content": "One"}
    said: list[dict[str, Any]] = [asked, {"role": "assistant", "content": "{"}]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9}
    reply = post(path, json={**body, "messages": said}, headers=proxy.headers).json()
    said[-1] = {"role": "assistant", "content": "{" + reply["content"][0]["text"]}
    said.append({"role": "user", "content": "Two"})
    for _ in range(2):
        post(path, json={**body, "messages": said}, headers=proxy.headers)
        said += [
            {"role": "assistant", "content": "You said: Two"},
            {"role": "user", "content": "Two"},
        ]
    rows = proxy.api.get(f"/api/sessions/{proxy.session()['id']}/requests").json()
    decisions = [row["decision"] for row in rows["items"]]
    assert decisions == ["extended", "extended", "first"]
    assert not proxy.operations(proxy.session()["id"])


def test_a_provider_that_falls_silent_leaves_a_partial_reply(proxy: Proxy) -> None:
    proxy.provider.silent_after = 400
    assert b'"error"' in stream(proxy, ASK)
    assert [one["status"] for one in proxy.messages()] == ["complete", "partial"]


def test_a_response_that_breaks_off_ends_with_an_error_in_the_form_of_its_events(
    proxy: Proxy,
) -> None:
    """Of a stream of Responses each event has a type and a number; SDKs refuse one that hasn't."""
    proxy.provider.cut = 700
    asked = {"model": MODEL, "stream": True, "input": "How is the weather?"}
    reply = post(f"{proxy.url}/v1/responses", json=asked, headers=proxy.headers)
    *_, last = filter(None, reply.text.split("\n\n"))
    name, data = last.split("\n")
    event = json.loads(data.removeprefix("data: "))
    said = {"code": "upstream_broke_off", "message": "The provider broke off."}
    assert name == "event: error"
    assert (event["type"], event["param"]) == ("error", None)
    assert event["sequence_number"] > 0
    assert said.items() <= event.items()
    assert said.items() <= event["error"].items()


def test_what_a_revoked_key_was_being_answered_is_not_recorded(proxy: Proxy) -> None:
    given = {"name": "Short", "project": "demo", "scopes": ["read", "edit"]}
    made = proxy.api.post("/api/keys", json=given).raise_for_status().json()
    proxy.provider.silent_after = 400
    headers = {"Authorization": f"Bearer {made['key']}"}
    address = proxy.url + PATH
    with httpx.stream(
        "POST", address, json=ASK, headers=headers, timeout=PATIENCE_SECONDS
    ) as reply:
        pieces = reply.iter_raw()
        assert next(pieces)
        proxy.api.delete(f"/api/keys/{made['id']}").raise_for_status()
        for _ in pieces:
            pass
    assert [one["role"] for one in proxy.messages()] == ["user"]


def test_200_streams_cut_at_random_bytes_are_kept_as_far_as_they_came(
    proxy: Proxy,
) -> None:
    """Every other one by the client; no connection to the provider stays in use."""
    whole = len(stream(proxy, ASK, **{"X-Session-Id": "whole"}))
    chance = random.Random(13)
    proxy.provider.pause = 0.01

    def cut(place: int) -> None:
        words = " ".join(f"w{place}-{n}" for n in range(30))
        said = [{"role": "user", "content": words}]
        stop = chance.randrange(1, 2 * whole) if place % 2 else None
        stream(
            proxy, ASK | {"messages": said}, stop, **{"X-Session-Id": f"cut {place}"}
        )

    proxy.provider.cut = 2 * whole
    with ThreadPoolExecutor(200) as threads:
        list(threads.map(cut, range(200)))
    by_name = {one["external_id"]: one["id"] for one in _all_sessions(proxy)}
    statuses = {"complete": 0, "partial": 0}
    for place in range(200):
        held = proxy.messages(by_name[f"cut {place}"])
        assert held[0]["status"] == "complete"
        for reply in held[1:]:
            statuses[reply["status"]] += 1
            assert f"You said: w{place}-0".startswith(reply["content"][:10])
    assert statuses["partial"] > 150
    proxy.provider.cut, proxy.provider.pause = None, 0
    assert b"[DONE]" in stream(proxy, ASK, **{"X-Session-Id": "whole"})


def _all_sessions(proxy: Proxy) -> list[dict[str, Any]]:
    found, cursor = [], ""
    while True:
        page = proxy.api.get(
            f"/api/sessions?limit=500&cursor={cursor}"
            if cursor
            else "/api/sessions?limit=500"
        )
        body = json.loads(page.content)
        found += body["items"]
        if not (cursor := body["next_cursor"]):
            return found


pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("kind", ["text/plain; charset=utf-8", ""])
def test_events_under_another_type_are_read_as_the_stream_that_was_asked_for(
    proxy: Proxy, kind: str
) -> None:
    pieces = [{"choices": [{"index": 0, "delta": {"content": one}}]} for one in "ab"]
    events = b"".join(b"data: %b\n\n" % json.dumps(one).encode() for one in pieces)
    given = [("Content-Type", kind)] if kind else []
    proxy.provider.raw = (given, events + b"data: [DONE]\n\n")
    assert stream(proxy, ASK) == events + b"data: [DONE]\n\n"
    assert proxy.messages()[-1]["content"] == "ab"


def test_a_length_beside_chunks_does_not_count(proxy: Proxy) -> None:
    chunks = b"6\r\n{}    \r\n0\r\n\r\n"
    kind = [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")]
    proxy.provider.raw = (kind, chunks)
    reply = post(proxy.url + PATH, json=ASK | {"stream": False}, headers=proxy.headers)
    assert reply.content == b"{}    "


@pytest.mark.parametrize("status", [600, 999])
def test_a_status_that_there_is_not_is_a_failure_of_the_provider_s(
    proxy: Proxy, status: int
) -> None:
    proxy.provider.status, proxy.provider.raw = status, ([], b"{}")
    reply = post(proxy.url + PATH, json=ASK, headers=proxy.headers)
    assert reply.status_code == 502
    assert reply.json()["code"] == "upstream_failed"
