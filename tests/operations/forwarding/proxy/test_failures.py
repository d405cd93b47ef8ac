"""What the proxy does where it can't do its work, and what it leaves to the provider."""

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import zstandard

from tests.servers import PATIENCE_SECONDS

from .conftest import Proxy
from .forms import MODEL

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
WRONG = {"role": "nobody", "content": "Hello"}
SECRET = "the-code-is-4711"
OWN = "sk-own-0123456789abcdef"
NOTE = "x-contextstudio-note"


def ask(proxy: Proxy, *said: Any, name: str = "", **headers: str) -> httpx.Response:
    messages = [user(one) if isinstance(one, str) else one for one in said]
    named = {"X-Session-Id": name} if name else {}
    return httpx.post(
        proxy.url + CHAT,
        json={"model": MODEL, "messages": messages},
        headers=proxy.headers | named | headers,
        timeout=PATIENCE_SECONDS,
    )


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def set_policy(proxy: Proxy, **settings: Any) -> None:
    path = f"/api/sessions/{proxy.session()['id']}/policy"
    proxy.api.put(path, json={"policy": settings}).raise_for_status()


def requests(proxy: Proxy) -> list[Any]:
    path = f"/api/sessions/{proxy.session()['id']}/requests"
    found: list[Any] = proxy.api.get(path).raise_for_status().json()["items"]
    return found


# The wrong one is the second: by the first a session is looked for.
@pytest.mark.parametrize("said", [(WRONG,), ("One", WRONG)], ids=["first", "second"])
@pytest.mark.parametrize("name", ["", "new"])
def test_a_first_request_that_is_not_understood_goes_out_as_it_came(
    proxy: Proxy, said: tuple[Any, ...], name: str
) -> None:
    reply = ask(proxy, *said, name=name)
    assert reply.status_code == 200
    assert "as it came" in reply.headers[NOTE]
    assert proxy.provider.last.json["messages"][-1] == WRONG
    assert not proxy.sessions()


def test_one_of_a_session_that_is_not_understood_goes_out_as_it_came(
    proxy: Proxy,
) -> None:
    ask(proxy, "One", name="s")
    reply = ask(proxy, "One", WRONG, name="s")
    assert reply.status_code == 200
    assert reply.headers["x-contextstudio-session"] == proxy.session()["id"]
    assert "as it came" in reply.headers[NOTE]
    newest = requests(proxy)[0]
    assert newest["error"].startswith("Sent as it came: ")
    assert len(proxy.messages()) == 2


def test_its_reply_may_say_what_was_said_last(proxy: Proxy) -> None:
    ask(proxy, "One", name="s")
    reply = ask(proxy, "Two", {"role": "nobody", "content": "One"}, name="s")
    assert reply.json()["choices"][0]["message"]["content"] == "You said: One"
    assert [one["content"] for one in proxy.messages()] == ["One", "You said: One"]
    assert requests(proxy)[0]["status"] == "answered"


def test_a_policy_that_fails_closed_refuses_it(proxy: Proxy) -> None:
    ask(proxy, "One", name="s")
    set_policy(proxy, fails_open=False)
    assert ask(proxy, "One", WRONG, name="s").status_code == 422
    assert len(proxy.provider.asked) == 1


def test_a_projects_policy_says_it_of_a_request_without_a_session(proxy: Proxy) -> None:
    path = "/api/projects/demo/policy"
    closed = {"policy": {"fails_open": False}}
    proxy.api.put(path, json=closed).raise_for_status()
    try:
        assert ask(proxy, WRONG).status_code == 422
        assert not proxy.provider.asked
    finally:
        proxy.api.put(path, json={"policy": None}).raise_for_status()


@pytest.mark.parametrize("parts", ["Hi", 5, ["Hi"], [5]], ids=str)
def test_answers_in_pieces_that_can_not_be_joined_go_out_as_they_came(
    proxy: Proxy, parts: Any
) -> None:
    proxy.provider.raw = ([], b"{}")
    body = {"contents": [{"role": "model", "parts": parts}] * 2}
    reply = httpx.post(
        f"{proxy.url}/v1beta/models/gemini-2.5-flash:generateContent",
        json=body,
        headers=proxy.headers,
        timeout=PATIENCE_SECONDS,
    )
    assert reply.status_code == 200
    assert proxy.provider.last.json == body


def test_a_message_that_is_no_object_is_refused_at_its_place(proxy: Proxy) -> None:
    body = {"model": MODEL, "messages": [user("One"), 5]}
    reply = httpx.post(
        proxy.url + CHAT, json=body, headers=proxy.headers, timeout=PATIENCE_SECONDS
    )
    assert (reply.status_code, reply.json()["at"]) == (422, ["messages", 1])


@pytest.mark.parametrize("tools", ["", "recall"])
def test_a_name_that_no_session_can_have_is_refused_whatever_the_policy(
    proxy: Proxy, tools: str
) -> None:
    offered = {"X-ContextStudio-Tools": tools}
    for name in ("a%0Ab", "%00", "a" * 256):
        reply = httpx.post(
            f"{proxy.url}/s/{name}{CHAT}",
            json={"model": MODEL, "messages": [user("One")]},
            headers=proxy.headers | offered,
            timeout=PATIENCE_SECONDS,
        )
        assert reply.status_code == 422
        assert reply.json()["at"] == ["X-Session-Id"]
    assert not proxy.provider.asked
    assert not proxy.sessions()


def test_with_a_redaction_in_force_nothing_goes_out_as_it_came(proxy: Proxy) -> None:
    ask(proxy, f"Remember: {SECRET}", name="s")
    proxy.operate(
        type="redact", spans=[{"key": "m0", "start": 10, "end": 10 + len(SECRET)}]
    )
    for name in ("s", ""):  # without a name it may be of that session
        for said in ((WRONG,), (f"Remember: {SECRET}", WRONG)):
            assert ask(proxy, *said, name=name).status_code == 422
    assert len(proxy.provider.asked) == 1
    ask(proxy, f"Remember: {SECRET}", name="s")
    assert SECRET.encode() not in proxy.provider.last.body


def respond(proxy: Proxy, **body: Any) -> httpx.Response:
    return httpx.post(
        proxy.url + RESPONSES,
        json={"model": MODEL, **body},
        headers=proxy.headers,
        timeout=PATIENCE_SECONDS,
    )


def test_one_that_goes_on_from_something_else_is_passed_on_alone(proxy: Proxy) -> None:
    for before in ("resp_unknown", "\0", 7):
        reply = respond(proxy, input=[user("Two")], previous_response_id=before)
        assert reply.status_code == 200
        assert "previous_response_id" in reply.headers[NOTE]
    assert not proxy.sessions()


WHOLE = {
    "choices": [
        {"message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}
    ]
}


def test_a_packed_reply_passes_as_it_is_and_is_read(proxy: Proxy) -> None:
    packed = gzip.compress(json.dumps(WHOLE).encode())
    headers = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")]
    proxy.provider.raw = (headers, packed)
    reply = ask(proxy, "One")
    assert proxy.provider.last.header("accept-encoding") == "identity"
    assert reply.headers["content-encoding"] == "gzip"
    assert reply.json() == WHOLE
    assert [one["content"] for one in proxy.messages()] == ["One", "Hi."]


def test_one_that_cannot_be_read_passes_and_its_request_says_so(proxy: Proxy) -> None:
    headers = [("Content-Type", "application/json"), ("Content-Encoding", "br")]
    proxy.provider.raw = (headers, b"\x0b\x02\x80{}\x03")
    with httpx.stream(
        "POST",
        proxy.url + CHAT,
        json={"model": MODEL, "messages": [user("One")]},
        headers=proxy.headers,
        timeout=PATIENCE_SECONDS,
    ) as reply:
        assert b"".join(reply.iter_raw()) == b"\x0b\x02\x80{}\x03"
    assert [one["content"] for one in proxy.messages()] == ["One"]
    (row,) = requests(proxy)
    assert row["status"] == "failed"
    assert "compressed (br)" in row["error"]


def test_tags_in_a_header_are_active_for_one_request(proxy: Proxy) -> None:
    ask(proxy, "One", name="s")
    proxy.operate(type="digest", range=[0, 1], summary="Sum", tags=["short"])
    said = ("One", {"role": "assistant", "content": "You said: One"}, "Two")
    ask(proxy, *said, name="s", **{"X-ContextStudio-Tags": "other, short"})
    assert b"Sum" in proxy.provider.last.body
    assert proxy.provider.last.header("x-contextstudio-tags") is None
    ask(proxy, *said, name="s")
    assert b"Sum" not in proxy.provider.last.body


def test_an_upstreams_model_is_asked_in_place_of_the_callers(proxy: Proxy) -> None:
    for provider in ("openai", "gemini"):
        proxy.lead(provider, model="own-model").raise_for_status()
    ask(proxy, "One", name="s")
    assert proxy.provider.last.json["model"] == "own-model"
    httpx.post(
        f"{proxy.url}/v1beta/models/gemini-2.5-flash:generateContent",
        json={"contents": [{"role": "user", "parts": [{"text": "One"}]}]},
        headers=proxy.headers,
        timeout=PATIENCE_SECONDS,
    ).raise_for_status()
    assert proxy.provider.last.path == "/v1beta/models/own-model:generateContent"


@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("is_streaming", [False, True], ids=["whole", "streaming"])
def test_an_error_that_repeats_the_projects_key_does_not_show_it(
    proxy: Proxy, is_packed: bool, is_streaming: bool
) -> None:
    key = "sk-the-projects-own-4711"
    proxy.lead("openai", api_key=key).raise_for_status()
    said = json.dumps({"error": {"message": f"Incorrect API key: {key}."}}).encode()
    headers = [("Content-Encoding", "gzip")] if is_packed else []
    proxy.provider.status = 401
    proxy.provider.raw = headers, gzip.compress(said) if is_packed else said
    asked = {"model": MODEL, "messages": [user("One")], "stream": is_streaming}
    reply = httpx.post(
        proxy.url + CHAT, json=asked, headers=proxy.headers, timeout=PATIENCE_SECONDS
    )
    assert proxy.provider.last.header("authorization") == f"Bearer {key}"
    assert reply.status_code == 401
    assert reply.json() == {"error": {"message": "Incorrect API key: ***."}}


@pytest.mark.parametrize("body", [b"ollama is busy", b"\x1f\x8b no gzip"], ids=str)
def test_any_other_error_passes_byte_for_byte(proxy: Proxy, body: bytes) -> None:
    headers = [("Content-Encoding", "gzip")] if b"gzip" in body else []
    proxy.provider.status, proxy.provider.raw = 503, (headers, body)
    for key in ("ollama", "sk-the-projects-own-4711"):
        proxy.lead("openai", api_key=key).raise_for_status()
        asked = {"model": MODEL, "messages": [user("One")]}
        with httpx.stream(
            "POST",
            proxy.url + CHAT,
            json=asked,
            headers=proxy.headers,
            timeout=PATIENCE_SECONDS,
        ) as reply:
            assert b"".join(reply.iter_raw()) == body
        assert reply.status_code == 503
        assert int(reply.headers["content-length"]) == len(body)


def _events(*values: Any) -> bytes:
    return b"".join(f"data: {json.dumps(one)}\n\n".encode() for one in values)


def _chunk(text: str) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}}
    return {"object": "chat.completion.chunk", "choices": [choice]}


OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}
BLOCK = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "It"}}
FAILED = {
    "type": "response.failed",
    "response": {"status": "failed", "error": OVERLOADED, "output": []},
}


@pytest.mark.parametrize(
    ("path", "events", "status"),
    [
        (CHAT, [_chunk("It"), {"error": OVERLOADED}], "partial"),
        (CHAT, [{"error": OVERLOADED}], "failed"),
        ("/v1/messages", [BLOCK, {"type": "error", "error": OVERLOADED}], "partial"),
        (RESPONSES, [FAILED], "failed"),
        (RESPONSES, [{"type": "error", "message": "Overloaded"}], "failed"),
    ],
)
def test_an_error_in_the_midst_of_a_stream_is_told_with_its_request(
    proxy: Proxy, path: str, events: list[Any], status: str
) -> None:
    stream = [("Content-Type", "text/event-stream")]
    proxy.provider.raw = (stream, _events(*events))
    messages = {"input" if path == RESPONSES else "messages": [user("One")]}
    reply = httpx.post(
        proxy.url + path,
        json={"model": MODEL, "stream": True, "max_tokens": 9} | messages,
        headers=proxy.headers,
        timeout=PATIENCE_SECONDS,
    )
    assert reply.content == proxy.provider.raw[1]
    (row,) = requests(proxy)
    assert (row["status"], row["error"]) == (status, "Overloaded")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"error": OVERLOADED}, "Overloaded"),
        ([{"error": {"code": 529, "status": "UNAVAILABLE"}}], "UNAVAILABLE"),
        ({"error": "overloaded"}, "overloaded"),
        ({"error": {"message": f"Wrong key: {OWN}."}}, "Wrong key: ***."),
        ({"error": {"message": 5}}, ""),
        ({"detail": "Not found"}, ""),
        ("overloaded", ""),
    ],
    ids=str,
)
def test_what_a_provider_refuses_is_told_with_its_request(
    proxy: Proxy, error: Any, told: str
) -> None:
    body = json.dumps(error).encode()
    proxy.provider.status = 529
    proxy.provider.raw = ([("Content-Type", "application/json")], body)
    own = {"Authorization": f"Bearer {OWN}", "X-ContextStudio-Key": proxy.key}
    reply = ask(proxy, "One", **own)
    assert (reply.status_code, reply.content) == (529, body)
    (row,) = requests(proxy)
    assert (row["status"], row["upstream_status"]) == ("failed", 529)
    assert row["error"] == told


def test_an_error_that_comes_with_200_is_told_with_its_request(proxy: Proxy) -> None:
    kind = [("Content-Type", "application/json")]
    proxy.provider.raw = (kind, json.dumps({"error": OVERLOADED}).encode())
    assert ask(proxy, "One").status_code == 200
    (row,) = requests(proxy)
    assert (row["status"], row["error"]) == ("failed", "Overloaded")


def test_a_first_question_is_asked_again_in_its_session_until_it_is_answered(
    proxy: Proxy,
) -> None:
    kind = [("Content-Type", "text/event-stream")]
    for word in ("It", "It is"):
        proxy.provider.raw = (kind, _events(_chunk(word), {"error": OVERLOADED}))
        ask(proxy, "One")
    proxy.provider.raw = None
    ask(proxy, "One")
    ask(proxy, "One", {"role": "assistant", "content": "You said: One"}, "Two")
    said = [(one["status"], one["content"]) for one in proxy.messages()]
    broken = [("partial", "It"), ("partial", "It is")]
    whole = ["You said: One", "Two", "You said: Two"]
    assert said == [("complete", "One"), *broken, *(("complete", one) for one in whole)]
    assert [one["decision"] for one in reversed(requests(proxy))] == [
        "first",
        "regenerated",
        "regenerated",
        "extended",
    ]
    path = f"/api/sessions/{proxy.session()['id']}/thread?view=effective"
    shown = proxy.api.get(path).raise_for_status().json()["nodes"]
    assert [one["content"] for one in shown] == ["One", *whole]


def test_a_question_that_was_answered_begins_another_conversation(proxy: Proxy) -> None:
    for _ in range(2):
        ask(proxy, "One")
    assert [one["message_count"] for one in proxy.sessions()] == [2, 2]


def compress_in_frames(body: bytes) -> bytes:
    """As streaming compressors do that flush by ending a frame (RFC 8878, 3)."""
    return zstandard.compress(body[:9]) + zstandard.compress(body[9:])


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("zstd", zstandard.compress),
        ("zstd", compress_in_frames),
        ("Identity", bytes),
    ],
)
def test_a_request_that_comes_packed_goes_out_unpacked(
    proxy: Proxy, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    body = json.dumps({"model": MODEL, "messages": [user("One")]}).encode()
    packed = {"Content-Encoding": encoding, "Content-Type": "application/json"}
    reply = httpx.post(
        proxy.url + CHAT,
        content=pack(body),
        headers=proxy.headers | packed,
        timeout=PATIENCE_SECONDS,
    )
    assert reply.status_code == 200
    assert proxy.provider.last.body == body
    assert proxy.provider.last.header("content-encoding") in (None, "Identity")
    assert [one["content"] for one in proxy.messages()] == ["One", "You said: One"]


@pytest.mark.parametrize(
    ("encoding", "body", "status"),
    [
        ("br", b"{}", 415),
        ("gzip, gzip", b"{}", 415),
        ("gzip", b"{}", 415),
        ("zstd", b"{}", 415),
        ("gzip", gzip.compress(bytes(65 << 20)), 413),
        ("zstd", zstandard.compress(bytes(65 << 20)), 413),
        ("zstd", zstandard.compress(b"{}")[:-1], 422),
    ],
    ids=range(7),
)
def test_a_request_that_can_not_be_unpacked_is_refused(
    proxy: Proxy, encoding: str, body: bytes, status: int
) -> None:
    reply = httpx.post(
        proxy.url + CHAT,
        content=body,
        headers=proxy.headers | {"Content-Encoding": encoding},
        timeout=PATIENCE_SECONDS,
    )
    assert reply.status_code == status
    assert reply.json()["error"]["type"] == "invalid_request_error"
    assert not proxy.provider.asked
