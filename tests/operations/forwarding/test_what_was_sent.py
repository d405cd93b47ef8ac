"""What the model saw: each request is kept as it was sent, at little cost, and can be compared."""

import json
import zlib
from typing import Any

import pytest
from django.test import Client

from operations.forwarding import services
from operations.forwarding.sent.packing import PURGED, unpacked
from operations.forwarding.sent.page import MAX_ENTRIES
from operations.forwarding.sent.reading import change_of, load_sent, read_pieces
from operations.log.cache import forget_everything
from operations.models import SentPiece, SessionRequest
from tests.operations.support.compared import Links, Rows
from tests.operations.support.rest import Tools, get, make_session, operate, post, said
from threads.models import Session

COUNT = 6


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, COUNT)


def apply(client: Client, session_id: str, messages: Any, **fields: Any) -> Any:
    body = {"messages": messages, **fields}
    return post(client, f"/api/sessions/{session_id}/apply", body)


def what_was_sent(session_id: str, number: int) -> list[Any]:
    session = Session.objects.get(pk=session_id)
    sent = load_sent(session, number)
    read = read_pieces(session, sent.numbers)
    return [read[piece] for piece in sent.numbers]


def test_a_request_is_kept_as_it_went_out(agent: Client, session_id: str) -> None:
    operate(agent, session_id, "digest", range=[1, 3], summary="Sum")
    tools = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    answer = apply(agent, session_id, said(COUNT), tools=tools)
    assert what_was_sent(session_id, 1) == [tools, *answer["messages"]]


def test_the_system_prompt_beside_the_messages_is_kept_before_them(
    agent: Client,
) -> None:
    session_id = make_session(agent, [])
    answer = apply(agent, session_id, said(3), format="anthropic", system="Be brief.")
    assert what_was_sent(session_id, 1) == ["Be brief.", *answer["messages"]]
    rows = SentPiece.objects.filter(session=session_id).order_by("number")
    assert [row.kind for row in rows] == ["system", *["message"] * 3]
    row = SessionRequest.objects.get(session=session_id)
    assert sum(piece.tokens for piece in rows) == row.tokens_after


@pytest.mark.parametrize("format_", ["openai", "anthropic"])
def test_the_next_request_of_a_loop_adds_only_what_is_new(
    agent: Client, session_id: str, format_: str
) -> None:
    apply(agent, session_id, said(COUNT), format=format_)
    for turn in range(1, 4):
        forget_everything()  # as another process that answers
        apply(agent, session_id, said(COUNT + 2 * turn), format=format_)
        session = Session.objects.get(pk=session_id)
        before, after = load_sent(session, turn), load_sent(session, turn + 1)
        assert after.row.sent == [[0, COUNT + 2 * turn]]
        change = change_of(before, after)
        assert change.extends and not change.again and not change.dropped
        assert change.kept == before.row.tokens_after
        assert change.kept + change.new == after.row.tokens_after
    assert SentPiece.objects.filter(session=session_id).count() == COUNT + 6


def test_a_digest_between_two_turns_is_what_changed(
    agent: Client, session_id: str
) -> None:
    apply(agent, session_id, said(COUNT))
    made = operate(agent, session_id, "digest", range=[1, 3], summary="Sum")
    apply(agent, session_id, said(COUNT + 2))
    session = Session.objects.get(pk=session_id)
    before, after = load_sent(session, 1), load_sent(session, 2)
    change = change_of(before, after)
    first = after.facts[after.numbers[change.place]]
    assert (change.place, change.extends) == (1, False)
    assert list(first.keys) == [f"{made['key']}.0"]
    assert change.again and change.new and change.dropped
    assert change.kept + change.again + change.new == after.row.tokens_after
    post(agent, f"/api/operations/{made['operation_id']}/revert")
    apply(agent, session_id, said(COUNT + 2))
    back = load_sent(session, 3)
    assert list(back.numbers[:COUNT]) == list(before.numbers)


STARTED = {
    "openai": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is in a?"},
        {"role": "user", "content": "And in b?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": name,
                    "type": "function",
                    "function": {
                        "name": "read",
                        "arguments": f'{{ "path": "{name}" }}',
                    },
                }
                for name in "ab"
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "A long text."},
        {"role": "tool", "tool_call_id": "b", "content": "Another long text."},
        {"role": "assistant", "content": "Much."},
        {"role": "user", "content": "Say it."},
    ],
    "anthropic": [
        {"role": "user", "content": "What is in a, and in b?"},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": name,
                    "name": "read",
                    "input": {"path": name},
                }
                for name in "ab"
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": name, "content": "A long text."}
                for name in "ab"
            ],
        },
        {"role": "assistant", "content": "Much."},
        {"role": "user", "content": "Say it."},
    ],
}
RESULTS = {"openai": [4, 5], "anthropic": [2, 2]}


@pytest.mark.parametrize("format_", STARTED)
@pytest.mark.parametrize("kind", ["snip", "digest", "insert"])
def test_its_messages_have_the_tokens_that_were_sent(
    agent: Client, format_: str, kind: str
) -> None:
    session_id = make_session(agent, [])
    apply(agent, session_id, STARTED[format_], format=format_)
    edits: dict[str, dict[str, Any]] = {
        "snip": {"range": RESULTS[format_]},
        "digest": {"range": [1, 2], "summary": "Two files."},
        "insert": {"after_idx": 0, "messages": [{"role": "user", "content": "Now."}]},
    }
    operate(agent, session_id, kind, **edits[kind])
    answer = apply(agent, session_id, STARTED[format_], format=format_)
    sent = load_sent(Session.objects.get(pk=session_id), 2)
    assert len(sent.messages) == len(answer["messages"])
    tokens = [sent.facts[number].tokens for number in sent.messages]
    assert sum(tokens) == sent.row.tokens_after
    assert all(tokens)


def test_a_redaction_masks_what_was_sent_before_it(
    agent: Client, session_id: str
) -> None:
    words = [*said(COUNT), {"role": "user", "content": "my key is hunter2, keep it"}]
    apply(agent, session_id, words)
    operate(agent, session_id, "redact", patterns=[{"start": "hunter2"}])
    assert "hunter2" not in str(what_was_sent(session_id, 1))
    assert "keep it" in str(what_was_sent(session_id, 1))


def test_a_redaction_masks_the_arguments_of_calls_that_were_sent_as_text(
    agent: Client, session_id: str
) -> None:
    """In which a quote and a line break are escaped."""
    secret = 'BEGIN "KEY"\nhunter2'
    call = {"name": "write", "arguments": json.dumps({"text": f"{secret}, kept"})}
    calls = [{"id": "c1", "type": "function", "function": call}]
    words = [
        *said(COUNT),
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "Written."},
    ]
    apply(agent, session_id, words)
    operate(agent, session_id, "redact", patterns=[{"start": secret}])
    sent = str(what_was_sent(session_id, 1))
    assert "hunter2" not in sent and ", kept" in sent


def test_what_is_purged_is_destroyed_in_what_was_sent_too(
    agent: Client, session_id: str
) -> None:
    apply(agent, session_id, said(COUNT))
    Tools(agent, session_id)("remove_group", group_id=1)
    sent = str(what_was_sent(session_id, 1))
    assert "message 0" not in sent and "message 5" in sent


def test_what_an_earlier_version_kept_is_read_and_destroyed_like_others(
    agent: Client, session_id: str
) -> None:
    sent = apply(agent, session_id, said(COUNT))["messages"]
    for piece in SentPiece.objects.filter(session=session_id):
        piece.content = zlib.compress(
            json.dumps(unpacked(bytes(piece.content))).encode()
        )
        piece.save()
    assert what_was_sent(session_id, 1) == sent
    Tools(agent, session_id)("remove_group", group_id=1)
    left = what_was_sent(session_id, 1)
    assert left[0] == PURGED and left[-1] == sent[-1]


def test_what_is_masked_in_what_was_sent_stays_so_when_the_message_is_purged(
    agent: Client, session_id: str
) -> None:
    """What else was sent may quote it: here the scratchpad, and a digest of other messages."""
    quoted = "they said message 0 twice"
    path = f"/api/sessions/{session_id}/scratchpad"
    assert agent.put(path, {"content": quoted}, "application/json").status_code == 200
    operate(agent, session_id, "digest", range=[2, 3], summary=quoted)
    apply(agent, session_id, said(COUNT))
    assert str(what_was_sent(session_id, 1)).count(quoted) == 2
    operate(agent, session_id, "redact", patterns=[{"start": "message 0", "all": True}])
    for purge in (None, 1):
        if purge:
            Tools(agent, session_id)("remove_group", group_id=purge)
            forget_everything()
        sent = str(what_was_sent(session_id, 1))
        assert sent.count("they said [redacted] twice") == 2
        assert "message 0" not in sent and "message 5" in sent


def test_a_request_that_only_asks_is_not_kept(agent: Client, session_id: str) -> None:
    apply(agent, session_id, said(COUNT), append=False)
    assert not SessionRequest.objects.filter(session=session_id).exists()
    assert not SentPiece.objects.filter(session=session_id).exists()


def test_the_page_shows_a_request_and_what_it_changed(
    agent: Client, session_id: str
) -> None:
    apply(agent, session_id, said(COUNT))
    made = operate(agent, session_id, "digest", range=[1, 3], summary="Sum of three")
    apply(agent, session_id, said(COUNT + 2))
    path = f"/sessions/{session_id}/sent"
    shown = agent.get(path).content.decode()
    assert "Request 2" in shown and "Sum of three" in shown
    assert f"digest {made['key']}" in shown
    assert "Changed since request 1" in shown
    first = agent.get(path, {"request": 1}).content.decode()
    assert "message 2" in first and "Sum of three" not in first
    against = agent.get(path, {"request": 2, "against": 1}).content.decode()
    assert "identical message" in against and "Sum of three" in against
    alike = Links(against).of("Show in the whole request")
    assert alike[0]["hx-get"] == f"{path}?request=2&start=0&until=1"
    opened = agent.get(alike[0]["hx-get"]).content.decode()
    assert opened.count("<article") == 1 and "message 0" in opened
    assert "Compared with request 1" in against
    assert agent.get(path, {"request": 9}).status_code == 404
    assert agent.get(path, {"request": "x"}).status_code == 422


def test_a_digest_stands_beside_what_it_folded_also_when_it_is_reverted_since(
    agent: Client, session_id: str
) -> None:
    apply(agent, session_id, said(COUNT))
    made = operate(agent, session_id, "digest", range=[1, 2], summary="Sum of two")
    apply(agent, session_id, said(COUNT))
    asked = {"request": 2, "against": 1}
    rows = Rows(agent.get(f"/sessions/{session_id}/sent", asked).content.decode()).rows
    assert rows == [
        (
            ["Request 1, message 1, assistant", "Request 1, message 2, user"],
            ["Request 2, message 1, system"],
        )
    ]
    post(agent, f"/api/operations/{made['operation_id']}/revert")
    since = agent.get(f"/sessions/{session_id}/sent", asked).content.decode()
    assert Rows(since).rows == rows


def test_a_comparison_goes_on_with_the_next_request_and_may_be_with_a_later_one(
    agent: Client, session_id: str
) -> None:
    for count in (COUNT, COUNT + 2, COUNT + 4):
        apply(agent, session_id, said(count))
    path = f"/sessions/{session_id}/sent"
    shown = agent.get(path, {"request": 2, "against": 1}).content.decode()
    assert 'href="?request=3&amp;against=1" rel="next"' in shown
    later = agent.get(path, {"request": 2, "against": 3}).content.decode()
    assert "First difference" in later
    assert "The provider reads everything from there again." not in later


@pytest.mark.parametrize("other", ["3", "0", "-1", "1.5", "9" * 5_000, "٢"])
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_request_stays_where_there_is_none_to_compare_it_with(
    agent: Client, session_id: str, other: str, headers: dict[str, str]
) -> None:
    for _ in range(2):
        apply(agent, session_id, said(COUNT))
    path = f"/sessions/{session_id}/sent"
    asked = {"request": "2", "against": other}
    answer = agent.get(path, asked, headers=headers)
    shown = answer.content.decode()
    assert answer.status_code == 422
    assert "Compare with a request from 1 to 2." in shown
    assert "Changed since request 1" in shown and "Messages as sent" in shown


def test_the_page_says_how_many_operations_it_does_not_name(
    agent: Client, session_id: str
) -> None:
    apply(agent, session_id, said(COUNT))
    for number in range(MAX_ENTRIES + 2):
        operate(agent, session_id, "tag", range=[0, 0], tags=[str(number)])
    apply(agent, session_id, said(COUNT))
    shown = agent.get(f"/sessions/{session_id}/sent").content.decode()
    between = shown.partition("Recorded in between:")[2].partition("</p>")[0]
    assert between.count("<a ") == MAX_ENTRIES
    assert between.endswith("and 2 more")


def test_the_page_of_a_session_without_requests_says_so(
    agent: Client, session_id: str
) -> None:
    shown = agent.get(f"/sessions/{session_id}/sent").content.decode()
    assert "No requests yet" in shown


def test_an_operation_says_when_the_model_sees_it(
    agent: Client, session_id: str
) -> None:
    def drawer() -> str:
        return agent.get(f"/sessions/{session_id}/panel").content.decode()

    made = operate(agent, session_id, "digest", range=[1, 2], summary="Sum")
    assert "request" not in drawer() and "sent at" not in drawer()
    apply(agent, session_id, said(COUNT))
    assert "sent at" in drawer()
    post(agent, f"/api/operations/{made['operation_id']}/toggle", {"active": False})
    assert "in the next request" in drawer() and "sent at" not in drawer()
    apply(agent, session_id, said(COUNT + 1))
    assert "in the next request" not in drawer() and "sent at" in drawer()


def test_the_api_gives_a_request_as_it_was_sent(agent: Client, session_id: str) -> None:
    apply(agent, session_id, said(COUNT))
    made = operate(agent, session_id, "digest", range=[1, 3], summary="Sum")
    answer = apply(agent, session_id, said(COUNT + 2))
    path = f"/api/sessions/{session_id}/requests"
    found = get(agent, f"{path}/2")
    assert [piece["body"] for piece in found["pieces"]] == answer["messages"]
    assert found["pieces"][1]["keys"] == [f"{made['key']}.0"]
    change = found["change"]
    assert (change["against"], change["position"], change["extends"]) == (1, 1, False)
    sums = change["kept"] + change["again"] + change["new"]
    assert sums == found["tokens"]["after"] == answer["tokens"]["after"]
    page = get(agent, f"{path}/2", start=4, limit=1)
    assert page["total"] == len(answer["messages"])
    assert [piece["position"] for piece in page["pieces"]] == [4]
    assert get(agent, f"{path}/1")["change"] is None
    assert get(agent, f"{path}/1", against=2)["change"]["against"] == 2
    assert get(agent, f"{path}/9", expect=404)["code"] == "not_found"


def test_a_request_that_is_answered_from_memory_is_kept_as_it_went_out(
    agent: Client,
    session_id: str,
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    operate(agent, session_id, "digest", range=[1, 3], summary="Sum")
    with django_capture_on_commit_callbacks(execute=True):
        apply(agent, session_id, said(COUNT + 1))
    monkeypatch.setattr(services, "apply", None)
    answer = apply(agent, session_id, said(COUNT + 1))
    assert what_was_sent(session_id, 2) == answer["messages"]
