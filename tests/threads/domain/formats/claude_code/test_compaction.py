"""Where Claude Code shortened its context: what it hid, and what the model saw instead."""

from typing import Any

import pytest

from tests.threads.support.readings import compactions, events
from tests.threads.support.transcripts import (
    answer,
    call,
    claude_lines,
    record,
    result,
    text,
    user,
)
from threads.domain.formats.claude_code import shortening
from threads.domain.message import Message
from threads.domain.part import Text, ToolResult
from threads.domain.transcript import Compaction, Transcript

from .sessions import WHOLE, read, read_all, shape


def boundary(id_: str, parent: str | None, **about: Any) -> dict[str, Any]:
    return record(
        "system",
        id_,
        None,
        subtype="compact_boundary",
        logicalParentUuid=parent,
        compactMetadata={"trigger": "auto", "preTokens": 9, **about},
    )


def summary(id_: str, parent: str | None, words: str = "In short.") -> dict[str, Any]:
    return user(
        id_, parent, words, isCompactSummary=True, isVisibleInTranscriptOnly=True
    )


def seen(transcript: Transcript) -> list[str]:
    """What the model saw at the end, by the first text of each message."""
    view: list[tuple[int, str]] = []
    passed = 0
    for item in transcript.items:
        if isinstance(item, Message):
            view.append((passed, _first(item)))
            passed += 1
        elif isinstance(item, Compaction):
            hidden = set(item.replaces)
            view = [
                *((-1, _first(message)) for message in item.messages),
                *(one for one in view if one[0] not in hidden and one[0] >= 0),
            ]
    return [words for _, words in view]


def _first(message: Message) -> str:
    for part in message.parts:
        if isinstance(part, Text):
            return part.text
        if isinstance(part, ToolResult):
            return "".join(item.text for item in part.content if isinstance(item, Text))
    return ""


COMPACTED = [
    *claude_lines(),
    boundary("b1", "a3"),
    summary("s1", "b1"),
    record("attachment", "t1", "s1", attachment={"type": "task_reminder"}),
    user("u2", "t1", "Go on."),
    answer("a4", "u2", text("Gone on.")),
]


def test_a_summary_stands_for_all_that_was_live() -> None:
    transcript = read(*COMPACTED)
    [compaction] = compactions(transcript)

    assert shape(transcript) == [*WHOLE, "user: Go on.", "assistant: Gone on."]
    assert compaction.replaces == (0, 1, 2, 3, 4)
    assert [message.text for message in compaction.messages] == ["In short."]
    assert compaction.messages[0].source_id == "s1"
    assert compaction.created_at is not None
    assert seen(transcript) == ["In short.", "Go on.", "Gone on."]
    assert events(transcript)[-1] == "attachment/task_reminder"


def test_what_was_kept_stays() -> None:
    kept = {"preservedMessages": {"uuids": ["r2", "a3"], "allUuids": ["r2", "a3"]}}
    lines = [
        boundary("b1", "a3", **kept) if r.get("uuid") == "b1" else r for r in COMPACTED
    ]
    [compaction] = compactions(read(*lines))

    assert compaction.replaces == (0, 1, 2)


@pytest.mark.parametrize(
    ("head", "replaces"), [("r2", (0, 1, 2)), ("gone", (0, 1, 2, 3, 4))]
)
def test_a_segment_that_was_kept_goes_from_its_tail_to_its_head(
    head: str, replaces: tuple[int, ...]
) -> None:
    kept = {
        "preservedSegment": {"headUuid": head, "anchorUuid": "s1", "tailUuid": "a3"}
    }
    lines = [
        boundary("b1", "a3", **kept) if r.get("uuid") == "b1" else r for r in COMPACTED
    ]
    [compaction] = compactions(read(*lines))

    assert compaction.replaces == replaces


def test_the_thread_may_go_on_from_what_was_kept() -> None:
    kept = {"preservedMessages": {"uuids": ["a3"]}}
    transcript = read(
        *claude_lines(),
        boundary("b1", "a3", **kept),
        summary("s1", "b1"),
        user("u2", "a3", "Go on."),
    )

    assert shape(transcript) == [*WHOLE, "user: Go on."]
    assert compactions(transcript)[0].replaces == (0, 1, 2, 3)


def test_what_was_kept_may_be_written_behind_the_summary() -> None:
    found = read(
        *claude_lines(),
        boundary("b1", "a4", preservedMessages={"uuids": ["a3", "a4"]}),
        summary("s1", "b1"),
        answer("a4", "s1", text("Kept.")),
        user("u2", "a4", "And now?"),
    )

    assert shape(found) == [*WHOLE, "assistant: Kept.", "user: And now?"]
    assert seen(found) == ["In short.", "All is well.", "Kept.", "And now?"]


def test_compactions_nest() -> None:
    transcript = read(
        *COMPACTED,
        boundary("b2", "a4", preservedMessages={"uuids": ["a4"]}),
        summary("s2", "b2", "Shorter."),
        user("u5", "s2", "Again."),
        boundary("b3", "u5", preservedMessages={"uuids": ["a4", "u5", "a3"]}),
        summary("s3", "b3", "Shortest."),
    )

    assert [one.replaces for one in compactions(transcript)] == [
        (0, 1, 2, 3, 4),
        (0, 1, 2, 3, 4, 5),
        (0, 1, 2, 3, 4, 5),
    ]
    assert seen(transcript) == ["Shortest.", "Gone on.", "Again."]


def test_where_nothing_stands_before_it_a_summary_is_a_message() -> None:
    transcript = read(*COMPACTED[len(claude_lines()) :])

    assert shape(transcript) == [
        "user: In short.",
        "user: Go on.",
        "assistant: Gone on.",
    ]
    assert events(transcript) == ["system/compact_boundary", "attachment/task_reminder"]


def test_a_boundary_whose_parent_is_missing_hangs_on_the_message_before_it() -> None:
    lines = [boundary("b1", "gone") if r.get("uuid") == "b1" else r for r in COMPACTED]

    assert compactions(read(*lines))[0].replaces == (0, 1, 2, 3, 4)


def test_a_boundary_without_a_summary_is_an_event() -> None:
    transcript = read(*claude_lines(), boundary("b1", "a3"), user("u2", "b1", "Go on."))

    assert compactions(transcript) == []
    assert events(transcript)[-1] == "system/compact_boundary"


def test_a_summary_without_a_boundary_stands_for_all_before_it() -> None:
    transcript = read(*claude_lines(), summary("s1", "a3"), user("u2", "s1", "Go on."))

    assert compactions(transcript)[0].replaces == (0, 1, 2, 3, 4)
    assert (
        compactions(transcript)[0].record
        == compactions(transcript)[0].messages[0].records[0]
    )


def test_a_compaction_of_what_was_left_is_an_event() -> None:
    transcript = read(
        user("u1", None, "One."),
        answer("a1", "u1", text("Two.")),
        user("u2", "a1", "Three."),
        boundary("b1", "a1"),
        summary("s1", "b1"),
    )

    assert compactions(transcript) == []
    assert events(transcript) == [
        "branch/system/compact_boundary",
        "branch/user/compact_summary",
    ]


def test_a_compaction_that_was_gone_on_from_goes_with_what_a_rewind_left() -> None:
    thread, left = read_all(
        *claude_lines(),
        boundary("b1", "a3"),
        summary("s1", "b1"),
        user("u2", "s1", "And now?"),
        answer("a4", "u2", text("Still.")),
        user("u3", "a3", "No."),
        answer("a5", "u3", text("Well.")),
    )

    assert compactions(thread) == []
    assert shape(thread) == [*WHOLE, "user: No.", "assistant: Well."]
    assert seen(left) == ["In short.", "And now?", "Still."]
    assert left.title == "And now?"
    assert left.parent is not None and left.parent.at == len(WHOLE)


def test_a_branch_has_the_compactions_of_what_it_shares() -> None:
    _, branch = read_all(
        *COMPACTED,
        user("x1", "a4", "This way."),
        answer("x2", "x1", text("As you like.")),
        user("u9", "a4", "That way."),
    )

    assert seen(branch) == [
        "In short.",
        "Go on.",
        "Gone on.",
        "This way.",
        "As you like.",
    ]
    assert events(branch) == []
    assert branch.parent is not None
    assert branch.parent.at == 7


def test_a_branch_that_begins_with_a_summary_counts_it() -> None:
    _, branch = read_all(
        *COMPACTED[len(claude_lines()) :],
        user("x1", "a4", "This way."),
        answer("x2", "x1", text("As you like.")),
        user("u9", "a4", "That way."),
    )

    assert branch.parent is not None
    assert branch.parent.at == 3


def test_history_that_was_written_again_leaves_the_order_as_it_was() -> None:
    hook = record("system", "h1", "a3", subtype="stop_hook_summary")
    transcript = read(
        *COMPACTED,
        *claude_lines()[1:],
        hook,
        boundary("b2", "h1"),
        summary("s2", "b2", "Shorter."),
        user("u9", "s2", "On."),
    )

    assert shape(transcript)[5:] == ["user: Go on.", "assistant: Gone on.", "user: On."]
    assert len(compactions(transcript)[1].replaces) == 7


def test_an_unreadable_summary_is_an_event() -> None:
    lines = [
        summary("s1", "b1", [5]) if r.get("uuid") == "s1" else r for r in COMPACTED
    ]  # type: ignore[arg-type]
    transcript = read(*lines)

    assert compactions(transcript) == []
    assert "unreadable/user/compact_summary" in events(transcript)
    assert "system/compact_boundary" in events(transcript)


# Results that were cleared


def clearing(id_: str, parent: str, *ids: str) -> dict[str, Any]:
    about = {"trigger": "auto", "tokensSaved": 9, "compactedToolIds": list(ids)}
    return record(
        "system",
        id_,
        parent,
        subtype="microcompact_boundary",
        microcompactMetadata=about,
    )


def test_results_that_were_cleared_read_as_the_tool_sends_them() -> None:
    transcript = read(
        *claude_lines(),
        clearing("k1", "a3", "c2", "c1", "c1", "unheard of"),
        user("u2", "k1", "Go on."),
    )
    first, second = compactions(transcript)

    assert (first.replaces, second.replaces) == ((2,), (3,))
    [shorter] = second.messages
    assert shorter.parts == (
        ToolResult("c2", (Text("[Old tool result content cleared]"),)),
    )
    assert shorter.records == ()


def test_what_else_a_message_holds_is_not_cleared() -> None:
    both = user("r1", "a1", [*result("c1"), *result("c2")])
    transcript = read(
        user("u1", None, "Look."),
        answer("a1", "u1", call("c1"), turn="m"),
        answer("a2", "a1", call("c2"), turn="m"),
        both | {"parentUuid": "a2"},
        clearing("k1", "r1", "c1"),
    )
    [compaction] = compactions(transcript)

    assert [
        _first(Message(role=m.role, parts=(p,)))
        for m in compaction.messages
        for p in m.parts
    ] == [
        "[Old tool result content cleared]",
        "ran c2",
    ]


def test_a_clearing_that_clears_nothing_is_an_event() -> None:
    transcript = read(*COMPACTED, clearing("k1", "a4", "c1"), clearing("k2", "k1"))

    assert len(compactions(transcript)) == 1
    assert events(transcript)[-2:] == ["system/microcompact_boundary"] * 2


@pytest.mark.parametrize("bound", ["MAX_HIDDEN", "MAX_COMPACTIONS"])
def test_compactions_beyond_the_bound_are_events(
    monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(shortening, bound, 6 if bound == "MAX_HIDDEN" else 1)
    transcript = read(
        *COMPACTED, boundary("b2", "a4"), summary("s2", "b2"), summary("s3", "s2")
    )

    assert len(compactions(transcript)) == 1
    assert events(transcript)[3:] == [
        "system/compact_boundary",
        "user/compact_summary",
        "user/compact_summary",
    ]
    assert [warning.code for warning in transcript.warnings] == ["compactions_left"]
