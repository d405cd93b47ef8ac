"""Compactions in opencode's sessions, and what was undone."""

from typing import Any

import pytest

from tests.threads.support.readings import told
from threads.domain.formats.opencode.session import CLEARED
from threads.domain.part import Text, ToolResult
from threads.domain.transcript import Compaction

from .sessions import SAID, info, read, text, tool

ASKED_SHORTER = (info("user", "3", 3), [{"type": "compaction", "auto": True}])
SUMMARY = info("assistant", "4", 4, summary=True, finish="stop", parentID="msg_3")


def test_a_compaction_hides_all_before_it() -> None:
    items = read(
        *SAID,
        ASKED_SHORTER,
        (SUMMARY, [text("So far.")]),
        (info("user", "5"), [text("Go")]),
    )

    assert told(items) == [
        "user: One",
        "assistant: Two",
        "tool: ",
        "compaction",
        "user/compaction",
        "(0, 1, 2) is What did we do so far?, So far.",
        "user: Go",
    ]


def test_a_compaction_may_keep_a_tail() -> None:
    part = {"type": "compaction", "tail_start_id": "msg_2"}
    items = read(*SAID, (info("user", "3"), [part]), (SUMMARY, [text("So far.")]))

    assert told(items)[-1] == "(0,) is What did we do so far?, So far."


def test_a_compaction_that_failed_or_hides_nothing_is_none() -> None:
    failed = {**SUMMARY, "error": {"name": "APIError"}}
    kept = read(*SAID, ASKED_SHORTER, (failed, [text("So")]))
    first = read(
        ASKED_SHORTER,
        (SUMMARY, [text("Nothing yet.")]),
        (info("user", "5"), [text("Hi")]),
    )

    assert not any(isinstance(item, Compaction) for item in kept)
    assert told(first)[-2:] == ["assistant: Nothing yet.", "user: Hi"]


def test_outputs_that_were_cleared_are_a_compaction_of_when_it_was() -> None:
    cleared = tool("1", output="long", time={"compacted": 5})
    late = tool("3", output="late", time={"compacted": 9})
    items = read(
        (info("assistant", "1", 1), [cleared, tool("2", output="kept")]),
        (info("user", "2", 4), [text("Then")]),
        (info("assistant", "3", 6), [late]),
    )
    first, last = (item for item in items if isinstance(item, Compaction))

    assert [type(item).__name__ for item in items] == [
        "Message",
        "Message",
        "Message",
        "Compaction",
        "Message",
        "Message",
        "Compaction",
    ]
    assert (first.replaces, last.replaces) == ((1,), (4,))
    assert [
        part.content for part in first.messages[0].parts if isinstance(part, ToolResult)
    ] == [
        (Text(CLEARED),),
        (Text("kept"),),
    ]


def test_outputs_are_cleared_in_the_order_in_which_opencode_did() -> None:
    moments = {"1": 9, "3": 8, "5": 7}
    turns = [
        (info("assistant", id_, int(id_)), [tool(id_, time={"compacted": at})])
        for id_, at in moments.items()
    ]
    items = read(*turns, (info("user", "6", 6), [text("Then")]))

    found = [item.replaces for item in items if isinstance(item, Compaction)]
    assert found == [(5,), (3,), (1,)]


def test_outputs_that_a_compaction_hid_already_are_cleared_unseen() -> None:
    cleared = tool("1", output="long", time={"compacted": 9})
    said = (info("assistant", "2", 2), [cleared])
    items = read(said, ASKED_SHORTER, (SUMMARY, [text("So far.")]))

    assert sum(isinstance(item, Compaction) for item in items) == 1


@pytest.mark.parametrize(
    ("revert", "last"),
    [
        ({"messageID": "msg_2"}, "reverted/assistant"),
        ({"messageID": "msg_2", "partID": "p"}, "tool: "),
    ],
)
def test_what_was_undone_is_an_event(revert: Any, last: str) -> None:
    items = read(*SAID, (info("user", "3"), [text("Three")]), revert=revert)

    assert told(items)[-2:] == [last, "reverted/user"]
