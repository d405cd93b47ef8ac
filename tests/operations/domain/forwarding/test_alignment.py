"""How far a client's messages are those of a session, and where they are others."""

from dataclasses import replace
from typing import Any

import pytest

from tests.operations.support.builders import digest, entries, snip
from threads.domain.body import tombstone_of
from threads.domain.message import Role
from threads.domain.part import Text, ToolCall

from .sending import (
    ASKED,
    BOTH,
    CALLED,
    DONE,
    ONE,
    OTHER,
    USE,
    Conversation,
    block,
    message,
    tool,
    user,
)


def test_a_shorter_list_is_the_beginning_of_the_session() -> None:
    session = Conversation([ASKED, CALLED, ONE, OTHER, DONE], entries(snip(4, 4)))
    messages = [{"role": "user", "content": "Look."}, USE, user(block("a"))]

    assert session.apply("anthropic", {"messages": messages}).messages == messages
    assert session.apply("anthropic", {"messages": []}).messages == []


def test_a_longer_list_goes_on_where_the_session_ends() -> None:
    session = Conversation([ASKED, CALLED, ONE, OTHER], entries(digest(1, 3)))
    messages = [
        {"role": "user", "content": "Look."},
        USE,
        user(block("a"), block("b")),
        {"role": "assistant", "content": "!"},
        {"role": "user", "content": "?"},
    ]
    sent = session.apply("anthropic", {"messages": messages})

    assert sent.messages[1:] == messages[3:]
    assert "<summary>" in sent.messages[0]["content"][1]["text"]


@pytest.mark.parametrize(
    "messages",
    [
        [tool("a"), tool("c")],
        [tool("b"), tool("a")],
        [tool("a")],
        [tool("a", "other"), tool("b")],
    ],
)
def test_another_course_is_the_clients_own_from_where_it_begins(
    messages: list[dict[str, Any]],
) -> None:
    session = Conversation([ASKED, BOTH, DONE], entries(snip(2, 2)))
    sent = [{"role": "user", "content": "Look."}, *messages]
    assert session.apply("openai", {"messages": sent}).messages == sent


def test_a_message_that_says_more_than_the_session_holds_stands_in_place_of_it() -> (
    None
):
    sent = [user(block("a"), block("b"))]
    session = Conversation([ONE], entries(snip(0, 0)))
    assert session.apply("anthropic", {"messages": sent}).messages == sent


def test_a_purged_message_is_known_again_by_what_it_said() -> None:
    session = Conversation([ASKED, CALLED, ONE, OTHER, DONE])
    session.digests[0] = tombstone_of(session.digests[0])
    session.messages[0] = replace(session.messages[0], parts=())
    messages = [{"role": "user", "content": "Look."}, USE, user(block("a"))]
    assert session.apply("anthropic", {"messages": messages}).messages == messages
    snipped = Conversation([ASKED, CALLED, ONE, OTHER, DONE], entries(snip(0, 0)))
    snipped.digests[0] = session.digests[0]
    assert snipped.apply("anthropic", {"messages": messages}).messages != messages


@pytest.mark.parametrize("format", ["anthropic", "openai"])
def test_a_reply_that_its_client_began_is_known_again_as_one_message(
    format: str,
) -> None:
    """As a client does that has the model go on from a beginning (a prefill), also twice."""
    began, went_on = (message(Role.ASSISTANT, Text(one)) for one in ('{"a', '": 1'))
    call = ToolCall("a", "look", {})
    called = message(Role.ASSISTANT, Text("}"), call)
    whole = message(Role.ASSISTANT, Text('{"a": 1}'), call)
    session = Conversation([ASKED, began, went_on, called, ONE], entries(digest(0, 0)))
    sent = Conversation([ASKED, whole, ONE]).export(format, "original")

    made = session.aligned(format, sent)[1]
    assert (made.decision, made.absent) == ("repeated", 0)
    assert session.apply(format, sent).messages[1:] == sent["messages"][1:]
    for other in (
        message(Role.ASSISTANT, Text('{"a": 2}')),
        replace(whole, parts=whole.parts[:1]),
    ):
        body = Conversation([ASKED, other]).export(format, "original")
        made = session.aligned(format, body)[1]
        assert (made.decision, made.absent) == ("regenerated", 4)
    shorter = Conversation([ASKED, began, went_on])
    made = shorter.aligned(format, sent)[1]
    assert (made.decision, made.absent) == ("regenerated", 2), "it says more than they"
