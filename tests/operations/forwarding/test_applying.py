"""`apply`: rewriting what a client is about to send."""

import base64
import json
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from tests.operations.support.rest import Tools, get, make_session, operate, post, said
from tests.people import client_of
from tests.validators import VALIDATORS
from threads.domain.formats.summaries import SUMMARY
from threads.models import Blob

COUNT = 8
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, COUNT)


@pytest.fixture
def path(session_id: str) -> str:
    return f"/api/sessions/{session_id}/apply"


def calling(id_: str) -> dict[str, Any]:
    """A message that makes one call and says nothing."""
    call = {"id": id_, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result_of(id_: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": f"result {id_}"}


def test_what_no_operation_touches_passes_as_it_was_given(
    agent: Client, session_id: str, path: str
) -> None:
    """Whatever stands in it beside role and content, in its order, to the last byte."""
    operate(agent, session_id, "digest", range=[2, 4], summary="Sum")
    sent = [{"x": 1.50, "cache_control": {}, **one, "a": None} for one in said(COUNT)]
    answer = agent.post(path, {"messages": sent}, "application/json")
    messages = answer.json()["messages"]
    assert json.dumps(messages) == json.dumps(
        [*sent[:2], {"role": "system", "content": SUMMARY.format("Sum")}, *sent[5:]]
    )


def test_what_was_said_aloud_is_known_again_by_the_id_of_its_recording(
    agent: Client,
) -> None:
    audio = {"id": "audio_1", "data": "AAAA", "transcript": "14 boats, hunter2."}
    spoken = {"role": "assistant", "content": None, "audio": audio}
    asked = [*said(2), {"role": "user", "content": "How many?"}]
    session_id = make_session(agent, [*asked, spoken])
    path = f"/api/sessions/{session_id}"
    named = {"role": "assistant", "audio": {"id": "audio_1"}}
    sent = [*asked, named, {"role": "user", "content": "And ferries?"}]
    assert post(agent, f"{path}/apply", {"messages": sent})["messages"] == sent
    assert get(agent, path)["message_count"] == len(sent)
    assert get(agent, f"{path}/operations")["operations"] == []
    masked = [{"start": "hunter2", "all": True}]
    redact = operate(agent, session_id, "redact", patterns=masked)
    answer = post(agent, f"{path}/apply", {"messages": sent})
    assert answer["applied"] == [redact["operation_id"]]
    assert "14 boats" in answer["messages"][3]["content"]
    assert not {"audio_1", "hunter2"} & set(json.dumps(answer).split('"'))
    unknown = {"role": "assistant", "audio": {"id": "audio_2"}}
    other = [*asked, unknown, sent[-1]]
    assert post(agent, f"{path}/apply", {"messages": other})["messages"] == other


@pytest.mark.parametrize("format_", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("message", "member"),
    [
        ({"role": "user"}, "content"),
        ({"role": "user", "parts": [{"type": "text", "text": "Hi"}]}, "parts"),
        ({"role": "assistant", "content": "", "toolInvocations": [{}]}, None),
    ],
)
def test_a_message_that_was_not_understood_is_refused_and_not_recorded(
    agent: Client,
    session_id: str,
    path: str,
    format_: str,
    message: dict[str, Any],
    member: str | None,
) -> None:
    body = {"messages": [*said(COUNT), message], "format": format_, "append": True}
    refused = post(agent, path, body, expect=422)
    assert refused["at"] == ["messages", COUNT, member or "toolInvocations"]
    assert get(agent, f"/api/sessions/{session_id}")["message_count"] == COUNT


def test_the_answer_says_what_was_applied_and_what_had_nothing_to_act_on(
    agent: Client, session_id: str, path: str
) -> None:
    snip = operate(agent, session_id, "snip", range=[0, 1])
    later = operate(agent, session_id, "digest", range=[5, 6], summary="Sum")
    unmet = operate(agent, session_id, "snip", range=[3, 3], tags=["lean"])
    answer = post(agent, path, {"messages": said(4)})
    assert answer["applied"] == [snip["operation_id"]]
    (suspended,) = answer["suspended"]
    assert suspended["id"] == later["operation_id"]
    assert suspended["reason"]
    assert answer["messages"] == said(4)[2:]
    assert answer["tokens"]["before"] > answer["tokens"]["after"] > 0
    assert (answer["session_id"], answer["issues"]) == (session_id, [])
    assert "system" not in answer
    lean = post(agent, path, {"messages": said(4), "active_tags": ["lean"]})
    assert unmet["operation_id"] in lean["applied"]
    assert lean["messages"] == said(4)[2:3]


def test_what_is_new_is_appended_and_operations_reach_it_at_once(
    agent: Client, session_id: str, path: str
) -> None:
    answer = post(agent, path, {"messages": said(COUNT + 2)})
    assert answer["messages"] == said(COUNT + 2)
    assert get(agent, f"/api/sessions/{session_id}")["message_count"] == COUNT + 2
    operate(agent, session_id, "snip", range=[COUNT, COUNT + 1])
    again = post(agent, path, {"messages": said(COUNT + 2)})
    assert again["messages"] == said(COUNT)


def test_a_reply_is_appended_to_what_the_answer_counted(
    agent: Client, session_id: str, path: str
) -> None:
    counted = post(agent, path, {"messages": said(COUNT + 1)})["message_count"]
    assert counted == COUNT + 1
    reply = {"messages": said(COUNT + 2)[-1:], "expected_count": counted}
    messages = f"/api/sessions/{session_id}/messages"
    post(agent, messages, reply, expect=201)
    stale = post(agent, messages, reply, expect=409)
    assert (stale["code"], stale["message_count"]) == ("stale_count", counted + 1)
    assert post(agent, path, {"messages": said(1)})["message_count"] == counted + 1


def test_nothing_is_appended_where_the_client_says_so(
    agent: Client, session_id: str, path: str
) -> None:
    operate(agent, session_id, "snip", range=[0, 1])
    picture = {"url": f"data:image/png;base64,{PIXEL}"}
    new = {"role": "user", "content": [{"type": "image_url", "image_url": picture}]}
    sent = [*said(COUNT), new]
    answer = post(agent, path, {"messages": sent, "append": False})
    assert answer["messages"] == sent[2:]
    assert get(agent, f"/api/sessions/{session_id}")["message_count"] == COUNT
    assert not Blob.objects.exists()


def test_a_session_without_messages_takes_any(agent: Client) -> None:
    session_id = make_session(agent, [])
    answer = post(agent, f"/api/sessions/{session_id}/apply", {"messages": said(3)})
    assert answer["messages"] == said(3)
    assert get(agent, f"/api/sessions/{session_id}")["message_count"] == 3


def test_a_message_that_the_client_edited_stands_in_place_of_the_other(
    agent: Client, session_id: str, path: str
) -> None:
    sent = said(COUNT)
    sent[3] = {"role": "assistant", "content": "something else"}
    answer = post(agent, path, {"messages": sent})
    assert (answer["messages"], answer["applied"]) == (sent, [])
    assert get(agent, f"/api/sessions/{session_id}")["message_count"] == COUNT
    (edit,) = get(agent, f"/api/sessions/{session_id}/operations")["operations"]
    assert (edit["type"], edit["actor"]["id"]) == ("revise", "client")
    assert edit["title"] == "Edited by the client"


def test_a_text_and_a_list_of_one_text_are_one_message(
    agent: Client, session_id: str, path: str
) -> None:
    sent = [
        {**one, "content": [{"type": "text", "text": one["content"]}]}
        for one in said(COUNT)
    ]
    assert post(agent, path, {"messages": sent})["messages"] == sent
    assert get(agent, f"/api/sessions/{session_id}")["message_count"] == COUNT


def test_images_are_known_again_by_their_bytes(agent: Client) -> None:
    picture = {"url": f"data:image/png;base64,{PIXEL}"}
    sent = [{"role": "user", "content": [{"type": "image_url", "image_url": picture}]}]
    session_id = make_session(agent, sent)
    address = f"/api/sessions/{session_id}/apply"
    assert post(agent, address, {"messages": sent})["messages"] == sent
    operate(agent, session_id, "revise", range=[0, 0], replacements=sent * 2)
    assert post(agent, address, {"messages": sent})["messages"] == sent * 2


def test_anthropics_form_has_its_system_beside_the_messages(agent: Client) -> None:
    session_id = make_session(agent, 4, system="Be brief.")
    address = f"/api/sessions/{session_id}/apply"
    operate(agent, session_id, "digest", range=[1, 2], summary="Sum")
    body = {"format": "anthropic", "messages": said(4), "tools": [], "model": "x"}
    answer = post(agent, address, {**body, "system": "Be brief."})
    assert answer["system"] == "Be brief."
    summary, following = answer["messages"][0]["content"]
    assert answer["messages"][0]["role"] == "user"
    assert summary["text"] == SUMMARY.format("Sum")
    assert following["text"] == said(4)[2]["content"]
    assert answer["messages"][1] == said(4)[3]
    blocks = [{"type": "text", "text": "Be brief.", "cache_control": {}}]
    assert post(agent, address, {**body, "system": blocks})["system"] == blocks
    assert post(agent, address, {**body, "system": "Be long."})["system"] == "Be long."
    operate(agent, session_id, "snip", range=[0, 0])
    assert "system" not in post(agent, address, {**body, "system": "Be brief."})


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({}, ["messages"]),
        ({"messages": [{"role": "x"}]}, ["messages", 0, "role"]),
        ({"messages": [], "format": "gemini"}, ["format"]),
        ({"messages": [], "colour": "red"}, ["colour"]),
    ],
)
def test_what_is_malformed_is_refused_at_its_place(
    agent: Client, path: str, body: dict[str, Any], at: list[Any]
) -> None:
    assert post(agent, path, body, expect=422)["at"] == at


def test_one_who_may_only_read_applies_without_appending(
    viewer: User, project: Project, path: str
) -> None:
    client = client_of(viewer, project)
    post(client, path, {"messages": said(COUNT)}, expect=403)
    body = {"messages": said(COUNT), "append": False}
    assert post(client, path, body)["messages"] == said(COUNT)


def test_the_effective_export_is_what_apply_gives(
    agent: Client, session_id: str, path: str
) -> None:
    inserted = [{"role": "user", "content": "in between"}]
    operate(agent, session_id, "insert", after_idx=6, messages=inserted)
    operate(agent, session_id, "digest", range=[2, 4], summary="Sum")
    operate(agent, session_id, "resequence", new_order=[7, 0])
    query = {"format": "openai", "view": "effective"}
    answer = agent.get(f"/api/sessions/{session_id}/export", query)
    exported = json.loads(b"".join(answer))["messages"]
    assert exported == post(agent, path, {"messages": said(COUNT)})["messages"]


def test_an_operation_waits_where_its_message_moves_among_those_that_a_client_put_in(
    agent: Client, session_id: str, path: str
) -> None:
    sent = said(COUNT)
    note, secret = ({"role": "user", "content": words} for words in ("Note", "Secret"))
    post(agent, path, {"messages": [*sent[:4], secret, *sent[4:]]})
    snip = operate(agent, session_id, "snip", targets=["o1.0"])
    without = post(agent, path, {"messages": [*sent[:4], secret, *sent[4:]]})
    assert secret not in without["messages"]
    moved = post(agent, path, {"messages": [*sent[:4], note, secret, *sent[4:]]})
    assert note in moved["messages"]
    (waits,) = moved["suspended"]
    assert waits["id"] == snip["operation_id"] and waits["reason"]
    again = post(agent, path, {"messages": [*sent[:4], secret, *sent[4:]]})
    assert again["messages"] == without["messages"]
    assert again["suspended"] == []


def test_a_short_reply_that_was_asked_for_again_is_known_once_its_next_question_changes(
    agent: Client,
) -> None:
    start = said(1)
    no, yes = ({"role": "assistant", "content": words} for words in ("No.", "Yes."))
    why, how = ({"role": "user", "content": words} for words in ("Why?", "And how?"))
    session_id = make_session(agent, [*start, no])
    path = f"/api/sessions/{session_id}/apply"
    for sent in (start, [*start, yes, why]):
        post(agent, path, {"messages": sent})
    operate(agent, session_id, "snip", targets=["m2"])
    found = post(agent, path, {"messages": [*start, yes, how]})
    assert (yes in found["messages"], found["suspended"]) == (False, [])
    assert get(agent, f"/api/sessions/{session_id}")["message_count"] == 5


def test_calls_that_an_operation_moves_together_go_out_in_one_message(
    agent: Client,
) -> None:
    """The results of two calling messages in a row would stand behind the second alone."""
    messages = [*said(1), calling("a"), result_of("a"), *said(1), calling("b")]
    messages += [result_of("b"), *said(1)]
    session_id = make_session(agent, messages)
    operate(agent, session_id, "snip", start_idx=3, end_idx=3)
    operate(agent, session_id, "resequence", new_order=[4, 2])
    path = f"/api/sessions/{session_id}/apply"
    found = post(agent, path, {"messages": messages})
    sent = [(m["role"], len(m.get("tool_calls", ()))) for m in found["messages"]]
    assert sent == [
        ("user", 0),
        ("assistant", 2),
        ("tool", 0),
        ("tool", 0),
        ("user", 0),
    ]
    assert VALIDATORS["openai"]({"model": "m", "messages": found["messages"]}) == []


@pytest.mark.parametrize("is_followed", [True, False])
def test_a_purged_answer_stays_purged_when_its_client_writes_it_in_another_form(
    agent: Client, is_followed: bool
) -> None:
    """As clients do that don't send what the model thought."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"key": "S3"}}
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "S3 is bad"}
    asked = [{"role": "user", "content": f"Question {n}"} for n in range(3)]
    done = [{"role": "assistant", "content": f"Answer {n}"} for n in range(2)]
    whole = [{"role": "assistant", "content": [thought, call]}]
    turn = [{"role": "user", "content": [result]}, done[1]]
    behind = [asked[2]] if is_followed else []
    session_id = make_session(agent, [], parsing_strategy="anthropic")
    path = f"/api/sessions/{session_id}/apply"
    body = {"format": "anthropic"}
    first = [asked[0], done[0], asked[1], *whole, *turn, *behind]
    post(agent, path, body | {"messages": first})
    Tools(agent, session_id)("remove_group", group_id=2)
    other = [{"role": "assistant", "content": [call]}]
    sent = [asked[0], done[0], asked[1], *other, *turn, asked[2]]
    for _ in range(2):
        answer = post(agent, path, body | {"messages": sent})
        assert answer["messages"] == [asked[0], done[0], asked[2]]
    operations = get(agent, f"/api/sessions/{session_id}/operations")["operations"]
    assert [one["type"] for one in operations] == ["snip"]
    assert get(agent, f"/api/sessions/{session_id}")["message_count"] == 7


def test_what_is_condensed_stays_the_call_and_the_result_that_it_is(
    agent: Client,
) -> None:
    """Otherwise a stand-in is sent for the result, and its text as if the user had said it."""
    called = calling("a")
    called["tool_calls"] += calling("b")["tool_calls"]
    called["content"] = "I look for them, as you asked me to."
    sent = [*said(2), called, result_of("a"), result_of("b")]
    session_id = make_session(agent, sent)
    path = f"/api/sessions/{session_id}/apply"
    operate(agent, session_id, "condense", target="m2", text="I look.")
    made = operate(agent, session_id, "condense", target="m3", text="short")
    shorter = {**called, "content": "I look."}

    def result_says(text: str) -> None:
        messages = post(agent, path, {"messages": sent})["messages"]
        assert messages[2:] == [
            shorter,
            result_of("a") | {"content": text},
            result_of("b"),
        ]

    result_says("short")
    amend = f"/api/operations/{made['operation_id']}/amend"
    post(agent, amend, {"text": "shorter"})
    result_says("shorter")
