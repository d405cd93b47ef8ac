"""What a client sends, sends again, and makes of answers; nothing is dialled."""

import json
import pickle
import re
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID

import httpx
import pytest

from contextstudio_client import (
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    NotSent,
    Refused,
    Retries,
    StudioError,
    TooMany,
    Unauthenticated,
    Unavailable,
    Unexpected,
    Unreachable,
)
from contextstudio_client.exchange import path

from .support import AT_ONCE, Script, opened

URL, KEY = "http://studio.test", "cs_key"
SWITCHED = {"success": True, "head": 3, "warnings": [], "changed": []}


def problem(status: int, headers: Any = None, **members: Any) -> httpx.Response:
    body = {"status": status, "code": "some_code", "detail": "One sentence.", **members}
    return httpx.Response(status, json=body, headers=headers)


def ok(body: Any) -> httpx.Response:
    return httpx.Response(200, json=body)


def undo(kind: str, script: Script, retries: Retries = AT_ONCE) -> Any:
    with opened(kind, URL, KEY, script, retries=retries) as client:
        return client.session("0").undo()


@pytest.mark.parametrize(
    "failure",
    [
        problem(429),
        problem(503),
        httpx.Response(502, text="<h1>Bad gateway</h1>"),
        httpx.Response(504),
        problem(409, code="idempotency_key_in_use"),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("broke off"),
    ],
    ids=lambda one: getattr(one, "status_code", type(one).__name__),
)
def test_a_write_that_may_go_well_is_sent_again_with_the_same_idempotency_key(
    kind: str, failure: httpx.Response | Exception
) -> None:
    script = Script(failure, failure, ok(SWITCHED))
    assert undo(kind, script).head == 3
    keys = {request.headers["Idempotency-Key"] for request in script.requests}
    assert (len(script.requests), len(keys)) == (3, 1)


def test_two_writes_have_two_idempotency_keys(kind: str) -> None:
    script = Script(ok(SWITCHED), ok(SWITCHED))
    with opened(kind, URL, KEY, script) as client:
        client.session("0").undo()
        client.session("0").undo()
    one, other = (request.headers["Idempotency-Key"] for request in script.requests)
    assert one != other


def test_reading_and_apply_have_no_idempotency_key(kind: str) -> None:
    applied = {
        "messages": [], "applied": [], "suspended": [], "issues": [], "steps": [],
        "tokens": {"before": 0, "after": 0}, "session_id": "0", "message_count": 0,
    }  # fmt: skip
    script = Script(httpx.ConnectError("refused"), ok(applied), ok({"tools": []}))
    with opened(kind, URL, KEY, script, retries=AT_ONCE) as client:
        client.session("0").apply([])
        client.tools()
    assert all("Idempotency-Key" not in one.headers for one in script.requests)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 500])
def test_what_is_refused_for_good_is_not_sent_again(kind: str, status: int) -> None:
    script = Script(problem(status))
    with pytest.raises(Refused):
        undo(kind, script)
    assert len(script.requests) == 1


def test_after_four_tries_the_last_refusal_is_raised(kind: str) -> None:
    script = Script(*[problem(503)] * 3, problem(429))
    with pytest.raises(TooMany):
        undo(kind, script)


def test_without_an_answer_the_cause_is_kept(kind: str) -> None:
    cause = httpx.ConnectError("nobody there")
    with pytest.raises(Unreachable, match="nobody there") as raised:
        undo(kind, Script(cause), Retries(attempts=1))
    assert raised.value.__cause__ is cause


def test_the_pause_is_the_one_asked_for_else_it_doubles() -> None:
    retries = Retries(first=1, longest=10)

    def pause(sent: int, **headers: str) -> float | None:
        error = _refusal(429, headers)
        return retries.pause(error, sent)

    assert pause(1, **{"Retry-After": "7"}) == 7
    assert pause(1, **{"Retry-After": "11"}) is None
    assert pause(1, **{"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}) == 0
    assert pause(1, **{"Retry-After": "soon"}) is not None
    for sent, most in ((1, 1), (2, 2), (3, 4)):
        assert most / 2 <= (pause(sent) or 0) <= most
    assert pause(4) is None


def _refusal(status: int, headers: Any) -> StudioError:
    with pytest.raises(Refused) as raised:
        undo("blocking", Script(problem(status, headers)), Retries(attempts=1))
    return raised.value


@pytest.mark.parametrize(
    ("status", "kind_of_error"),
    [
        (401, Unauthenticated),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (422, Invalid),
        (429, TooMany),
        (503, Unavailable),
        (418, Refused),
    ],
)
def test_every_refusal_has_its_class(
    kind: str, status: int, kind_of_error: type[Refused]
) -> None:
    with pytest.raises(kind_of_error) as raised:
        undo(kind, Script(problem(status)), Retries(attempts=1))
    error = raised.value
    assert (error.status, error.code, error.detail) == (
        status,
        "some_code",
        "One sentence.",
    )


def test_a_refusal_names_the_place_and_every_fault() -> None:
    fault = {"code": "R3", "detail": "Too long.", "at": ["messages"], "keys": ["m1"]}
    body = {"at": ["messages", 3, "role"], "errors": [fault]}
    with pytest.raises(Invalid, match=re.escape("(at messages.3.role)")) as raised:
        undo("blocking", Script(problem(422, **body)))
    assert raised.value.at == ("messages", 3, "role")
    [found] = raised.value.faults
    assert (found.code, found.at, found.body["keys"]) == ("R3", ("messages",), ["m1"])


def test_a_conflict_says_what_is_in_the_way_and_what_would_work() -> None:
    body = {"operations": ["o5"], "needs": {"keys": ["m2"], "first": 2}, "head": 9}
    with pytest.raises(Conflict) as raised:
        undo("blocking", Script(problem(409, **body)))
    error = raised.value
    assert (error.operations, error.needs["first"], error.head) == (["o5"], 2, 9)
    with pytest.raises(Conflict) as raised:
        undo("blocking", Script(problem(409)))
    error = raised.value
    assert (error.operations, error.needs, error.head) == ([], {}, None)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>A login page</html>"),
        ok([]),
        ok({"head": "3", "warnings": [], "changed": []}),
        ok({"head": True, "warnings": [], "changed": []}),
        ok({"warnings": [], "changed": []}),
    ],
)
def test_an_answer_in_another_form_is_named(kind: str, answer: httpx.Response) -> None:
    with pytest.raises(Unexpected, match=r"/undo"):
        undo(kind, Script(answer))


def test_a_redirect_is_not_followed_so_that_the_key_stays_here(kind: str) -> None:
    away = httpx.Response(302, headers={"Location": "http://elsewhere.test/"})
    script = Script(away)
    with pytest.raises(Refused) as raised:
        undo(kind, script)
    assert (raised.value.code, len(script.requests)) == ("http_302", 1)


def test_texts_that_utf_8_cannot_hold_are_sent_as_escapes(kind: str) -> None:
    script = Script(ok({}), ok({}))
    with opened(kind, URL, KEY, script) as client:
        client.request("POST", "/api/x", {"text": "é\ud800"})
        client.request("POST", "/api/x", {"text": "é"})
    escaped, plain = (request.content for request in script.requests)
    assert json.loads(escaped) == {"text": "é\ud800"}
    assert plain == '{"text":"é"}'.encode()


def test_any_other_request_brings_its_body_and_may_be_answered_with_nothing(
    kind: str,
) -> None:
    script = Script(httpx.Response(204), ok({"found": 1}))
    with opened(kind, URL, KEY, script) as client:
        assert client.request("DELETE", "/api/x") is None
        assert client.request("get", "/api/x", {"a": 1}, b=True) == {"found": 1}
    deleted, found = script.requests
    assert "Idempotency-Key" in deleted.headers
    assert "Idempotency-Key" not in found.headers
    assert (found.method, found.content) == ("GET", b'{"a":1}')
    assert found.url.query == b"b=true"


_HOLDS_ITSELF: list[Any] = []
_HOLDS_ITSELF.append(_HOLDS_ITSELF)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (float("nan"), "nan (at messages.0.x)"),
        ([float("-inf")], "-inf (at messages.0.x.0)"),
        (b"boats", "a value of type bytes (at messages.0.x)"),
        (MappingProxyType({"set": {1}}), "a value of type set (at messages.0.x.set)"),
        ({("a",): 1}, "a name of type tuple (at messages.0.x)"),
        (_HOLDS_ITSELF, "Circular reference detected"),
    ],
    ids=["nan", "infinity", "bytes", "set", "name", "circle"],
)
def test_what_json_has_not_is_refused_with_its_place_before_anything_is_sent(
    kind: str, value: Any, sentence: str
) -> None:
    refused = pytest.raises(NotSent)
    with opened(kind, URL, KEY, Script()) as client, refused as raised:
        client.session("0").append([{"role": "user", "content": "", "x": value}])
    assert isinstance(raised.value, StudioError)
    assert str(raised.value) == f"This can't be written as JSON: {sentence}."


def test_what_a_providers_own_sdk_answers_is_sent_as_it_came(kind: str) -> None:
    # Both ask for a second to be imported, which only this test needs.
    from anthropic.types import Message
    from openai.types.chat import ChatCompletionMessage

    call = {"type": "tool_use", "id": "toolu_1", "name": "count", "input": {"n": 1}}
    blocks = [{"type": "text", "text": "Let me look."}, call]
    usage = {"input_tokens": 1, "output_tokens": 1}
    answer = Message.model_validate(
        {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude"}
        | {"content": blocks, "stop_reason": "tool_use", "stop_sequence": None}
        | {"usage": usage}
    )
    reply = {"role": "assistant", "content": "14 boats."}
    script = Script(ok({"found": 1}))
    with opened(kind, URL, KEY, script) as client:
        said = [
            {"role": "assistant", "content": answer.content},
            ChatCompletionMessage.model_validate(reply),
        ]
        client.request("POST", "/api/x", {"messages": said})
    assert json.loads(script.requests[0].content) == {
        "messages": [{"role": "assistant", "content": blocks}, reply]
    }


def test_moments_ids_and_mappings_are_sent_as_json_has_them(kind: str) -> None:
    moment = datetime(2026, 11, 28, tzinfo=UTC)
    one = UUID("0190a1b2-0000-4000-8000-000000000000")
    script = Script(ok({"found": 1}))
    with opened(kind, URL, KEY, script) as client:
        said = MappingProxyType({"at": moment, "id": one, "file": Path("a/b")})
        client.request("POST", "/api/x", {"messages": [said]})
    found = {"at": str(moment), "id": str(one), "file": "a/b"}
    assert json.loads(script.requests[0].content) == {"messages": [found]}


def test_a_client_that_is_closed_says_so(kind: str) -> None:
    with opened(kind, URL, KEY) as client:
        client.close()
        with pytest.raises(NotSent, match="The client is closed"):
            client.tools()


def test_a_refusal_comes_whole_out_of_another_process(kind: str) -> None:
    needs = {"keys": ["m2", "m3"], "first": 2, "last": 3}
    body = {"at": ["targets", 0], "operations": ["o2"], "needs": needs}
    script = Script(problem(409, {"Retry-After": "7"}, **body))
    with pytest.raises(Conflict) as raised:
        undo(kind, script)
    came = pickle.loads(pickle.dumps(raised.value))  # as workers send it
    assert isinstance(came, Conflict)
    assert str(came) == str(raised.value)
    assert (came.operations, came.needs, came.at) == (["o2"], needs, ("targets", 0))
    assert came.retry_after == 7


def test_what_is_no_address_is_an_error_of_the_client(kind: str) -> None:
    says = pytest.raises(NotSent, match="is not a valid address: Invalid port")
    with opened(kind, "http://studio.test:80a", KEY, Script()) as client, says:
        client.tools()


def test_no_name_leads_to_another_address() -> None:
    assert path("api", "tools", "../../x y?#") == "api/tools/..%2F..%2Fx%20y%3F%23"
    for word in ("", ".", ".."):
        with pytest.raises(NotSent):
            path("api", word)


def test_the_server_and_the_key_may_come_from_the_environment(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXTSTUDIO_URL", "https://studio.test/")
    monkeypatch.setenv("CONTEXTSTUDIO_KEY", "cs_other")
    script = Script(ok({"tools": []}))
    with opened(kind, "", "", script) as client:
        client.tools(["edit", "recall"])
    [request] = script.requests
    query = "format=openai&tools=edit%2Crecall"
    assert str(request.url) == f"https://studio.test/api/tools?{query}"
    assert request.headers["Authorization"] == "Bearer cs_other"


def test_a_key_that_was_read_from_a_file_may_end_in_a_line_break(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXTSTUDIO_KEY", "cs_other\n")
    script = Script(ok({"tools": []}))
    with opened(kind, f"{URL}/\n", "", script) as client:
        client.tools(["edit"])
    [request] = script.requests
    assert str(request.url) == f"{URL}/api/tools?format=openai&tools=edit"
    assert request.headers["Authorization"] == "Bearer cs_other"


@pytest.mark.parametrize("key", ["cs_one\ncs_two", "cs_ö"])
def test_a_key_that_no_header_can_hold_is_refused_without_telling_it(
    kind: str, key: str
) -> None:
    refusing = pytest.raises(ValueError, match="The key has characters")
    with refusing as refused, opened(kind, URL, key):
        pass
    assert "cs_" not in str(refused.value)


def test_a_session_is_named_by_one_id(kind: str) -> None:
    with opened(kind, URL, KEY, Script()) as client:
        for named in ({}, {"external_id": None}):
            with pytest.raises(ValueError, match="Name a session"):
                client.session(**named)
        with pytest.raises(ValueError, match="not open yet"):
            _ = client.session(external_id="run-1").id


def test_of_two_who_make_a_session_at_once_both_have_the_same(kind: str) -> None:
    info = dict.fromkeys(
        ("id", "project", "title", "source", "parsing_strategy", "model", "objective"),
        "x",
    )
    info |= {"external_id": "run-1", "message_count": 0, "head": 0, "tokens": 0}  # type: ignore[dict-item]
    info |= dict.fromkeys(("created_at", "updated_at"), "2026-01-01T00:00:00Z")
    empty, found = {"items": [], "next_cursor": None}, {"items": [info]}
    script = Script(ok(empty), problem(409), ok(found), ok(info))
    with opened(kind, URL, KEY, script) as client:
        session = client.session(external_id="run-1", project="demo")
        with session:
            assert session.id == "x"
            assert session.info().external_id == "run-1"
    script = Script(ok(empty), problem(409), ok(empty))
    with opened(kind, URL, KEY, script) as client, pytest.raises(Conflict):
        client.session(external_id="deleted").info()
