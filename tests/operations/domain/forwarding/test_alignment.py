"""How far a client's messages are those of a session, and where they are others."""

from dataclasses import replace
from typing import Any

import pytest

from operations.domain.forwarding.alignment import NotAligned
from tests.operations.support.builders import digest, entries, snip
from threads.domain.message import tombstone_of

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
    ("messages", "at"),
    [
        ([tool("a"), tool("c")], 1),
        ([tool("b"), tool("a")], 1),
        ([tool("a")], 1),
        ([tool("a", "other"), tool("b")], 1),
    ],
)
def test_another_course_is_refused_where_it_begins(
    messages: list[dict[str, Any]], at: int
) -> None:
    session = Conversation([ASKED, BOTH, DONE])
    with pytest.raises(NotAligned) as refusal:
        session.apply(
            "openai", {"messages": [{"role": "user", "content": "Look."}, *messages]}
        )
    assert refusal.value.index == at


def test_a_message_that_says_more_than_the_session_holds_is_refused() -> None:
    with pytest.raises(NotAligned) as refusal:
        Conversation([ONE]).apply(
            "anthropic", {"messages": [user(block("a"), block("b"))]}
        )
    assert refusal.value.index == 0


def test_a_purged_message_is_known_again_by_what_it_said() -> None:
    session = Conversation([ASKED, CALLED, ONE, OTHER, DONE])
    session.digests[0] = tombstone_of(session.digests[0])
    session.messages[0] = replace(session.messages[0], parts=())
    messages = [{"role": "user", "content": "Look."}, USE, user(block("a"))]
    assert session.apply("anthropic", {"messages": messages}).messages == messages
    messages[0] = {"role": "user", "content": "Look here."}
    with pytest.raises(NotAligned):
        session.apply("anthropic", {"messages": messages})
