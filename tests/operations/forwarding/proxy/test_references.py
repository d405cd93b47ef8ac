"""Requests that name what their provider keeps: by `previous_response_id`, by `item_reference`."""

import json
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from contextstudio.accounts.models import User
from operations.forwarding.proxy.references import kept
from operations.forwarding.requests.records import (
    ReplyFacts,
    RequestFacts,
    finish_request,
    record_request,
)
from operations.models import SessionRequest
from tests.people import caller
from tests.servers import PATIENCE_SECONDS, Server
from tests.validators.openai_responses import validate
from threads.models import Session

from .conftest import Proxy
from .forms import MODEL, Said
from .test_bound_calls import PAIRS

NOTE = "x-contextstudio-note"
SECRET = "the-code-is-4711"
LATER = "resp_" + "later" * 40


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def named(*ids: str) -> list[dict[str, str]]:
    return [{"type": "item_reference", "id": one} for one in ids]


def answers(proxy: Proxy, *texts: str) -> None:
    """Let the provider answer the next requests so: `a` is the reply `resp_a`, and so on."""
    names = "abcdefgh"
    proxy.provider.script = [
        Said(text, name=names[place], thinks=True) for place, text in enumerate(texts)
    ]


def respond(
    proxy: Proxy, *said: Any, session: str = "", **more: Any
) -> tuple[httpx.Response, dict[str, Any]]:
    """Ask; the reply, and what was sent for it."""
    reply = httpx.post(
        proxy.url + "/v1/responses",
        json={
            "model": MODEL,
            "input": [user(one) if isinstance(one, str) else one for one in said],
            **more,
        },
        headers=proxy.headers | ({"X-Session-Id": session} if session else {}),
        timeout=PATIENCE_SECONDS,
    )
    sent: dict[str, Any] = proxy.provider.last.json
    return reply, sent


def contents(proxy: Proxy) -> list[str]:
    return [one["content"] for one in proxy.messages()]


def words(sent: dict[str, Any]) -> str:
    return str(sent["input"])


def last_request(proxy: Proxy) -> dict[str, Any]:
    path = f"/api/sessions/{proxy.session()['id']}/requests"
    row: dict[str, Any] = proxy.api.get(path).raise_for_status().json()["items"][0]
    return row


# By the response before


def test_a_request_goes_on_from_a_response_in_the_session_of_that(proxy: Proxy) -> None:
    answers(proxy, "First.", "Second.", "Third.")
    respond(proxy, "One", instructions="Be brief.")
    for text, before in (("Two", "resp_a"), ("Three", "resp_b")):
        more = {"previous_response_id": before, "instructions": "Be brief."}
        reply, sent = respond(proxy, text, **more)
        assert NOTE not in reply.headers
        assert sent == {"model": MODEL, "input": [user(text)], **more}
    said = ["One", "First.", "Two", "Second.", "Three", "Third."]
    assert contents(proxy) == ["Be brief.", *said]
    assert last_request(proxy)["decision"] == "extended"


def test_who_names_the_session_goes_on_from_what_another_key_was_answered(
    proxy: Proxy, proxying_server: Server
) -> None:
    """Such as an agent whose key expired, and that was given a new one."""
    answers(proxy, "First.", "Second.", "Third.")
    respond(proxy, "One", session="boats")
    proxy.key = proxying_server.key("read,propose,edit")
    respond(proxy, "Two", previous_response_id="resp_a", session="boats")
    assert contents(proxy) == ["One", "First.", "Two", "Second."]
    fold = proxy.operate(type="digest", targets=["m0", "m1"], summary="It began.")
    items = [*named("rs_b", "msg_b"), "Three"]
    _, sent = respond(proxy, "One", *named("msg_a"), "Two", *items, session="boats")
    assert "It began." in words(sent)
    assert "msg_a" not in words(sent)
    assert "msg_b" in words(sent)
    assert fold["key"] == "o1"
    reply, _ = respond(proxy, "Two", previous_response_id="resp_a")
    assert "only the provider has" in reply.headers[NOTE]  # without the session's name


def test_who_may_not_change_the_session_goes_on_from_nothing_in_it(
    proxy: Proxy, proxying_server: Server
) -> None:
    answers(proxy, "First.", "Second.")
    respond(proxy, "One", session="boats")
    proxy.key = proxying_server.key("read,own_session")
    reply, _ = respond(proxy, "Two", previous_response_id="resp_a", session="boats")
    assert reply.status_code == 403
    assert len(proxy.provider.asked) == 1


def test_where_an_operation_acts_all_that_was_said_is_sent_in_its_place(
    proxy: Proxy,
) -> None:
    answers(proxy, "First.", "Second.", "Third.", "Fourth.")
    respond(proxy, "One", instructions="Be brief.")
    respond(proxy, "Two", previous_response_id="resp_a", instructions="Be brief.")
    fold = proxy.operate(type="digest", targets=["m1", "m2"], summary="It began.")
    reply, sent = respond(
        proxy, "Three", previous_response_id="resp_b", instructions="Be brief."
    )
    assert reply.status_code == 200
    assert "previous_response_id" not in sent
    assert sent["instructions"] == "Be brief."
    assert "It began." in words(sent)
    assert "First." not in words(sent)
    assert "Be brief." not in words(sent)
    kinds = [one.get("id") for one in sent["input"]]
    assert kinds[-3:] == ["rs_b", "msg_b", None]
    assert contents(proxy)[-2:] == ["Three", "Third."]
    assert not [
        one
        for one in proxy.operations(proxy.session()["id"])
        if one["key"] != fold["key"]
    ]


def test_what_went_out_rewritten_is_spelled_out_once_nothing_acts_any_more(
    proxy: Proxy,
) -> None:
    """By its id the provider would go on from the digest that it was sent."""
    answers(proxy, "First.", "Second.", "Third.", "Fourth.")
    respond(proxy, "One")
    fold = proxy.operate(type="digest", targets=["m0", "m1"], summary="It began.")
    respond(proxy, "Two", previous_response_id="resp_a")
    path = f"/api/operations/{fold['operation_id']}/toggle"
    proxy.api.post(path, json={"active": False}).raise_for_status()
    _, sent = respond(proxy, "Three", previous_response_id="resp_b")
    assert "previous_response_id" not in sent
    assert "First." in words(sent)
    assert "It began." not in words(sent)
    _, sent = respond(proxy, "Four", previous_response_id="resp_c")
    assert sent["previous_response_id"] == "resp_c"
    assert len(sent["input"]) == 1


def test_a_request_may_go_on_from_an_earlier_response(proxy: Proxy) -> None:
    answers(proxy, "First.", "Second.", "Other.", "Last.")
    respond(proxy, "One")
    respond(proxy, "Two", previous_response_id="resp_a")
    _, sent = respond(proxy, "Instead", previous_response_id="resp_a")
    assert sent["previous_response_id"] == "resp_a"
    assert last_request(proxy)["decision"] == "regenerated"
    respond(proxy, "More", previous_response_id="resp_c")
    proxy.operate(type="digest", targets=["m0", "m1"], summary="It began.")
    _, sent = respond(proxy, "End", previous_response_id="resp_d")
    assert "Second." not in words(sent)
    assert "Other." in words(sent)


def test_calls_and_their_results_are_told_with_what_came_before(proxy: Proxy) -> None:
    proxy.provider.script = [
        Said("Let me look.", city="Paris", name="a", thinks=True),
        Said("Sunny.", name="b"),
        Said("Bye.", name="c"),
    ]
    respond(proxy, "Hello", "What is the weather?")
    result = {"type": "function_call_output", "call_id": "call_1", "output": "21"}
    respond(proxy, result, previous_response_id="resp_a")
    proxy.operate(type="snip", targets=["m0"])
    _, sent = respond(proxy, "Thanks", previous_response_id="resp_b")
    kinds = [one.get("type", "message") for one in sent["input"]]
    assert kinds == [
        *("message", "reasoning", "message", "function_call"),
        *("function_call_output", "message", "message"),
    ]
    assert "Hello" not in words(sent)


def test_a_call_of_the_api_s_own_is_told_in_one_form_with_its_result(
    proxy: Proxy,
) -> None:
    """The client's results are written anew, because items that it sends have no ids to name."""
    call, output = PAIRS["shell"]
    replies = [
        {"output": [call | {"id": "sh_1", "call_id": "call_1"}], "id": "resp_a"},
        {"output": [call | {"id": "sh_2", "call_id": "call_2"}], "id": "resp_b"},
    ]
    kind = [("Content-Type", "application/json")]
    for said, reply in zip(
        ("Hello", output | {"call_id": "call_1"}), replies, strict=True
    ):
        body = {"object": "response", "status": "completed", **reply}
        proxy.provider.raw = kind, json.dumps(body).encode()
        before = {"previous_response_id": "resp_a"} if said != "Hello" else {}
        respond(proxy, said, **before)
    proxy.operate(type="insert", after="m0", messages=[user("And the ferries?")])
    last = output | {"call_id": "call_2"}
    _, sent = respond(proxy, last, previous_response_id="resp_b")
    assert "And the ferries?" in words(sent)
    assert [*validate(sent | {"store": False})] == []
    assert sent["input"][-1] == last


@pytest.mark.django_db
def test_of_the_replies_of_a_session_only_the_items_that_are_told_are_read(
    session: Session, editor: User
) -> None:
    """Requests say of all that went out where that is: none of it is read with them."""
    facts = RequestFacts(
        door="proxy", format="openai-responses", decision="first", messages=1, known=0
    )
    for index in (1, 3):
        request = record_request(session, caller(editor), facts)
        answered = SessionRequest.Status.ANSWERED
        finish_request(request.pk, ReplyFacts(status=answered, reply_index=index))
        kept.keep(request.pk, [{"id": f"msg_{index}", "type": "message"}])
    with CaptureQueriesContext(connection) as asked:
        found = kept.items_of_replies(session, {1})
    assert found == {1: [{"id": "msg_1", "type": "message"}]}
    (query,) = asked.captured_queries
    assert '"sent"' not in query["sql"]


# By items


def test_items_that_are_named_pass_as_names(proxy: Proxy) -> None:
    answers(proxy, "First.", "Second.", "Third.")
    said: list[Any] = [user("One")]
    for text, ids in (("Two", ("rs_a", "msg_a")), ("Three", ("rs_b", "msg_b"))):
        respond(proxy, *said)
        said += [*named(*ids), user(text)]
    reply, sent = respond(proxy, *said)
    assert NOTE not in reply.headers
    assert sent["input"] == said
    assert contents(proxy) == ["One", "First.", "Two", "Second.", "Three", "Third."]


def test_an_item_that_an_operation_changes_is_not_named_any_more(proxy: Proxy) -> None:
    answers(proxy, "First.", "Second.", "Third.")
    said: list[Any] = [user("One")]
    respond(proxy, *said)
    said += [*named("rs_a", "msg_a"), user("Two")]
    respond(proxy, *said)
    said += [*named("rs_b"), {"id": "msg_b"}, user("Three")]
    proxy.operate(type="digest", targets=["m0", "m1"], summary="It began.")
    _, sent = respond(proxy, *said)
    assert "It began." in words(sent)
    assert "msg_a" not in words(sent)
    assert "rs_a" not in words(sent)
    assert sent["input"][-3:] == said[-3:]
    assert len(proxy.sessions()) == 1


def test_what_a_redaction_hides_in_a_named_item_is_not_named(proxy: Proxy) -> None:
    answers(proxy, f"Note: {SECRET}", "Second.")
    respond(proxy, "One")
    span = {"key": "m1", "start": 6, "end": 6 + len(SECRET)}
    proxy.operate(type="redact", spans=[span])
    _, sent = respond(proxy, "One", *named("rs_a", "msg_a"), "Two")
    assert "msg_a" not in words(sent)
    assert SECRET not in words(sent)
    assert "Note: " in words(sent)


@pytest.mark.parametrize("stream", [False, True])
def test_items_of_a_stream_are_known_by_their_ids(proxy: Proxy, stream: bool) -> None:
    answers(proxy, "First.", "Second.")
    respond(proxy, "One", stream=stream)
    reply, _ = respond(proxy, "One", *named("rs_a", "msg_a"), "Two", stream=stream)
    assert NOTE not in reply.headers
    assert contents(proxy) == ["One", "First.", "Two", "Second."]


def test_a_name_that_is_not_known_goes_out_as_it_came(proxy: Proxy) -> None:
    said = [user("One"), *named("msg_unknown"), user("Two")]
    reply, sent = respond(proxy, *said)
    assert "item_reference" in reply.headers[NOTE]
    assert sent["input"] == said
    assert not proxy.sessions()


def test_with_a_redaction_in_force_a_name_that_is_not_known_is_refused(
    proxy: Proxy,
) -> None:
    respond(proxy, f"Note: {SECRET}", session="s")
    span = {"key": "m0", "start": 6, "end": 6 + len(SECRET)}
    proxy.operate(type="redact", spans=[span])
    said = [f"Note: {SECRET}", *named("msg_unknown"), user("Two")]
    for session in ("s", ""):
        reply, _ = respond(proxy, *said, session=session)
        assert reply.status_code == 409
        assert reply.json()["code"] == "may_hide"
    assert len(proxy.provider.asked) == 1


@pytest.mark.parametrize("by_items", [True, False], ids=["items", "response"])
def test_what_a_redaction_hides_is_told_in_no_other_session(
    proxy: Proxy, by_items: bool
) -> None:
    answers(proxy, f"Note: {SECRET}", "Other.", "Second.")
    respond(proxy, "One", session="s")
    span = {"key": "m1", "start": 6, "end": 6 + len(SECRET)}
    proxy.operate(type="redact", spans=[span])
    said: list[Any] = ["One", *named("rs_a", "msg_a"), "Two"]
    more = {} if by_items else {"previous_response_id": "resp_a"}
    if not by_items:
        said = ["Two"]
    reply, _ = respond(proxy, *said, session="other", **more)
    assert reply.status_code == 409
    assert reply.json()["code"] == "may_hide"
    assert [one["external_id"] for one in proxy.sessions()] == ["s"]


def test_what_was_removed_for_good_is_not_told_again(proxy: Proxy) -> None:
    answers(proxy, f"Note: {SECRET}", "Second.")
    respond(proxy, "One")
    call = {"session_id": proxy.session()["id"], "group_id": 1}
    proxy.api.post("/api/tools/remove_group", json=call).raise_for_status()
    reply, sent = respond(proxy, "Two", previous_response_id="resp_a")
    assert "previous_response_id" in reply.headers[NOTE]
    assert sent["previous_response_id"] == "resp_a"
    reply, _ = respond(proxy, "One", *named("rs_a", "msg_a"), "Two")
    assert "item_reference" in reply.headers[NOTE]


# By the conversation


@pytest.mark.parametrize(
    "conversation", ["conv_1", {"id": "conv_1"}], ids=["id", "object"]
)
def test_what_a_provider_s_conversation_says_is_recorded(
    proxy: Proxy, conversation: Any
) -> None:
    answers(proxy, "First.", "Second.")
    for text in ("One", "Two"):
        reply, sent = respond(proxy, text, conversation=conversation)
        assert "conversation" in reply.headers[NOTE]
        assert sent["conversation"] == conversation
    assert contents(proxy) == ["One", "First.", "Two", "Second."]
    assert last_request(proxy)["error"].startswith("Sent as it came: ")


def test_a_question_that_is_asked_again_is_recorded_once(proxy: Proxy) -> None:
    proxy.provider.status = 500
    respond(proxy, "One", conversation="conv_2")
    proxy.provider.status = 200
    respond(proxy, "One", conversation="conv_2")
    assert contents(proxy) == ["One", "You said: One"]


def test_openais_own_client_goes_on_by_the_id_of_a_response(proxy: Proxy) -> None:
    import openai

    answers(proxy, "First.", "Second.")
    url = f"{proxy.url}/v1"
    with openai.OpenAI(base_url=url, api_key=proxy.key, max_retries=0) as client:
        first = client.responses.create(model=MODEL, input="One")
        proxy.operate(type="digest", targets=["m0", "m1"], summary="It began.")
        second = client.responses.create(
            model=MODEL, input="Two", previous_response_id=first.id
        )
    assert second.output_text == "Second."
    assert "It began." in words(proxy.provider.last.json)
    assert contents(proxy) == ["One", "First.", "Two", "Second."]


# What is asked about a conversation


@pytest.mark.parametrize(
    "path", ["/v1/responses/input_tokens", "/v1/responses/compact"]
)
def test_what_is_asked_about_a_conversation_is_rewritten_and_not_recorded(
    proxy: Proxy, path: str
) -> None:
    proxy.lead("openai", tools="context").raise_for_status()

    def ask(*said: Any, **more: Any) -> dict[str, Any]:
        body = {"model": MODEL, "input": [*said], **more}
        httpx.post(
            proxy.url + path, json=body, headers=proxy.headers
        ).raise_for_status()
        sent: dict[str, Any] = proxy.provider.last.json
        return sent

    assert ask(user("Two"), conversation="conv_3")["input"] == [user("Two")]
    assert not proxy.sessions()
    answers(proxy, "First.")
    respond(proxy, f"Note: {SECRET}")
    span = {"key": "m0", "start": 6, "end": 6 + len(SECRET)}
    proxy.operate(type="redact", spans=[span])
    sent = ask(user("Two"), previous_response_id="resp_a")
    assert SECRET not in words(sent)
    assert "First." in words(sent)
    assert ("tools" in sent) == path.endswith("tokens")
    assert contents(proxy) == ["Note: [redacted]", "First."]


def test_a_request_whose_words_its_provider_keeps_says_none(proxy: Proxy) -> None:
    body = {"model": MODEL, "prompt": {"id": "pmpt_1"}}
    url, headers = f"{proxy.url}/v1/responses", proxy.headers
    proxy.provider.raw = (
        [("Content-Type", "application/json")],
        json.dumps({"object": "response", "id": "resp_a", "output": []}).encode(),
    )
    httpx.post(
        url, json=body, headers=headers, timeout=PATIENCE_SECONDS
    ).raise_for_status()
    assert proxy.provider.last.json == body


# By a reply that comes later


def in_background(
    proxy: Proxy,
    method: str,
    path: str,
    status: str,
    *,
    text: str = "",
    stream: int = 0,
) -> httpx.Response:
    """Ask for a reply, or fetch it, while it is at this status. `stream`: events that come."""
    at = {"type": "message", "id": "msg_b", "role": "assistant", "status": "completed"}
    output = [at | {"content": [{"type": "output_text", "text": text}]}] if text else []
    usage = {"input_tokens": 40, "output_tokens": 9} if text else None
    response = {"id": LATER, "object": "response", "model": MODEL, "background": True}
    response |= {"status": status, "output": output, "usage": usage}
    kinds = ["queued", "in_progress", status][:stream]
    events = [
        {"type": f"response.{kind}", "response": response | {"status": kind}}
        for kind in kinds
    ]
    body = json.dumps(response).encode()
    kind = "application/json"
    if stream:
        kind = "text/event-stream"
        body = b"".join(b"data: %s\n\n" % json.dumps(one).encode() for one in events)
    proxy.provider.raw = ([("Content-Type", kind)], body)
    asked = {"model": MODEL, "input": "One", "background": True, "stream": bool(stream)}
    with httpx.Client(
        base_url=proxy.url, headers=proxy.headers, timeout=PATIENCE_SECONDS
    ) as client:
        return client.request(method, path, json=asked if method == "POST" else None)


@pytest.mark.parametrize("stream", [0, 3], ids=["at once", "stream"])
def test_a_reply_that_is_fetched_later_is_recorded_once_it_is_whole(
    proxy: Proxy, stream: int
) -> None:
    in_background(proxy, "POST", "/v1/responses", "queued", stream=stream and 2)
    assert last_request(proxy)["status"] == "sent"
    path = f"/v1/responses/{LATER}"
    fetched = f"{path}?stream=true&starting_after=1" if stream else path
    in_background(proxy, "GET", path, "in_progress", text="It")
    assert contents(proxy) == ["One"]
    for _ in range(2):
        reply = in_background(
            proxy, "GET", fetched, "completed", text="It is done.", stream=stream
        )
        assert "It is done." in reply.text
    assert contents(proxy) == ["One", "It is done."]
    row = last_request(proxy)
    assert (row["status"], row["reply_index"]) == ("answered", 1)
    assert row["usage"]["output_tokens"] == 9
    proxy.provider.raw = None
    respond(proxy, "One", *named("msg_b"), "Two")
    assert contents(proxy)[:3] == ["One", "It is done.", "Two"]


def test_of_a_reply_that_was_cancelled_what_it_said_is_recorded(proxy: Proxy) -> None:
    in_background(proxy, "POST", "/v1/responses", "queued")
    path = f"/v1/responses/{LATER}/cancel"
    in_background(proxy, "POST", path, "cancelled", text="It")
    assert contents(proxy) == ["One", "It"]
    row = last_request(proxy)
    assert (row["status"], row["error"]) == ("partial", "The reply was cancelled.")


def test_a_failed_fetch_says_nothing_of_the_reply(proxy: Proxy) -> None:
    in_background(proxy, "POST", "/v1/responses", "queued")
    proxy.provider.status = 429
    path = f"/v1/responses/{LATER}"
    assert in_background(proxy, "GET", path, "failed").status_code == 429
    assert last_request(proxy)["status"] == "sent"
