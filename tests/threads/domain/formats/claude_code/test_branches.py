"""What left a thread of Claude Code: branches by a rewind, sub-agents by a call."""

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.threads.support.readings import events
from tests.threads.support.transcripts import (
    SESSION,
    answer,
    record,
    result,
    spawn,
    text,
    user,
)
from threads.domain.formats.claude_code import conversations
from threads.domain.formats.claude_code import index as claude_index
from threads.domain.message import Message
from threads.domain.transcript import Compaction, Event, Parent, Relation, Transcript

from .sessions import read_all, shape

START = [
    user("u1", None, "Start."),
    answer("a1", "u1", text("Started.")),
]
LEFT = [
    user("u2", "a1", "Wrong."),
    answer("a2", "u2", text("As you say.")),
]
TAKEN = [
    user("u3", "a1", "Right."),
    answer("a3", "u3", text("Good.")),
]


def test_what_was_left_and_answered_is_a_session_of_its_own() -> None:
    thread, branch = read_all(*START, *LEFT, *TAKEN)

    assert shape(thread) == [
        "user: Start.",
        "assistant: Started.",
        "user: Right.",
        "assistant: Good.",
    ]
    assert shape(branch) == [
        *shape(thread)[:2],
        "user: Wrong.",
        "assistant: As you say.",
    ]
    assert events(thread) == events(branch) == []
    assert branch.external_id == f"{SESSION}/branch-u2"
    assert branch.title == "Wrong."
    assert branch.parent == Parent(external_id=SESSION, relation=Relation.BRANCH, at=2)


def test_a_branch_keeps_its_name_when_it_is_taken_further() -> None:
    further = [user("u4", "a2", "More."), answer("a4", "u4", text("There."))]
    [_, branch] = read_all(*START, *LEFT, *further, *TAKEN)

    assert branch.external_id == f"{SESSION}/branch-u2"
    assert len(shape(branch)) == 6


def test_a_branch_of_a_branch_says_whom_it_left() -> None:
    inner = [user("u5", "a2", "Or so."), answer("a5", "u5", text("Yes."))]
    outer = [user("u6", "a2", "Or not."), answer("a6", "u6", text("No."))]
    [_, first, second] = read_all(*START, *LEFT, *inner, *outer, *TAKEN)

    assert shape(first)[2:] == [
        "user: Wrong.",
        "assistant: As you say.",
        "user: Or not.",
        "assistant: No.",
    ]
    assert shape(second)[4:] == ["user: Or so.", "assistant: Yes."]
    assert second.external_id == f"{SESSION}/branch-u5"
    assert second.parent == Parent(
        external_id=f"{SESSION}/branch-u2", relation=Relation.BRANCH, at=4
    )


@pytest.mark.parametrize(
    ("left", "types"),
    [
        ([user("x1", "a1", "Never mind.")], ["branch/user"]),
        ([answer("x1", "u1", text("Sta"))], ["branch/assistant"]),
        (
            [
                user("x1", "a1", "One?"),
                record("system", "x2", "x1", subtype="api_error"),
                user("x3", "x1", "Two?"),
                user("x4", "x1", "Three?"),
            ],
            ["branch/user", "system/api_error", "branch/user", "branch/user"],
        ),
    ],
)
def test_what_was_not_answered_anew_stays_in_the_thread_as_events(
    left: list[Any], types: list[str]
) -> None:
    [thread] = read_all(*START, *left, *TAKEN)

    assert len(shape(thread)) == 4
    assert sorted(events(thread)) == sorted(types)


def test_what_was_asked_for_again_and_ran_on_is_a_branch_too() -> None:
    again = [
        answer("x1", "u1", text("Starting.")),
        answer("x2", "x1", text("And more.")),
    ]
    _, branch = read_all(*START, *again, *TAKEN)

    assert shape(branch)[1:] == ["assistant: Starting.", "assistant: And more."]
    assert (branch.title, branch.external_id) == ("Start.", f"{SESSION}/branch-x1")


def test_branches_repeat_only_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "MAX_SHARED", 3)
    more = [user("u7", "a1", "Other."), answer("a7", "u7", text("A."))]
    _, branch = read_all(*START, *LEFT, *more, *TAKEN)

    assert branch.external_id == f"{SESSION}/branch-u2"


def test_what_ran_on_beside_the_way_is_part_of_it() -> None:
    [thread] = read_all(
        user("u1", None, "Do both."),
        answer(
            "a1",
            "u1",
            {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
            turn="m1",
        ),
        user("r1", "a1", result("c1")),
        answer("a3", "r1", text("One is done.")),
        answer(
            "a2",
            "a1",
            {"type": "tool_use", "id": "c2", "name": "f", "input": {}},
            turn="m1",
        ),
        user("r2", "a2", result("c2")),
        user("k2", "r2", "A skill's text.", isMeta=True, sourceToolUseID="c2"),
        answer("a4", "k2", text("So is two.")),
    )

    assert shape(thread) == [
        "user: Do both.",
        "assistant: c1, c2",
        "user: result c1",
        "assistant: One is done.",
        "user: result c2",
        "user: A skill's text.",
        "assistant: So is two.",
    ]


def test_the_branches_with_most_answers_are_told_where_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversations, "BRANCHES", 1)
    more = [user("u7", "a1", "Other."), answer("a7", "u7", text("A."))]
    longer = [user("u8", "a7", "Go on."), answer("a8", "u8", text("B."))]
    thread, branch = read_all(*START, *LEFT, *more, *longer, *TAKEN)

    assert branch.external_id == f"{SESSION}/branch-u7"
    assert events(thread) == ["branch/user", "branch/assistant"]
    (left,) = thread.warnings
    assert left.code == "branches_left" and "1 more" in left.message
    assert not branch.warnings


# Sub-agents


ASKED = [
    user("u1", None, "Look around."),
    answer("a1", "u1", spawn("c1", "Do this.", "Doing it")),
]
AGENT = [
    user("x1", None, "Do this.", isSidechain=True),
    answer("x2", "x1", text("Done."), isSidechain=True),
]
ANSWERED = [
    user("r1", "a1", result("c1")),
    answer("a2", "r1", text("It is done.")),
]


def test_a_sidechain_is_a_session_that_its_call_began() -> None:
    thread, agent = read_all(*ASKED, *AGENT, *ANSWERED)

    assert len(shape(thread)) == 4
    assert shape(agent) == ["user: Do this.", "assistant: Done."]
    assert (agent.external_id, agent.title) == (f"{SESSION}/agent-c1", "Doing it")
    assert agent.parent == Parent(
        external_id=SESSION, relation=Relation.SUBAGENT, call_id="c1"
    )


def test_agents_that_were_asked_the_same_answer_their_calls_in_order() -> None:
    again = answer("a9", "a1", spawn("c2", "Do this."), turn="msg_a1")
    second = [
        user("y1", None, "Do this.", isSidechain=True),
        answer("y2", "y1", text("Twice."), isSidechain=True),
    ]
    stranger = [user("z1", None, "Unheard of.", isSidechain=True)]
    [_, *agents] = read_all(*ASKED, again, *AGENT, *second, *stranger, *ANSWERED)

    assert [agent.parent and agent.parent.call_id for agent in agents] == [
        "c1",
        "c2",
        None,
    ]
    assert agents[2].external_id == f"{SESSION}/agent-z1"


def test_agents_are_told_apart_by_their_ids() -> None:
    mixed = [
        user("x1", "a1", "Do this.", isSidechain=True, agentId="one"),
        user("y1", "a1", "And that.", isSidechain=True, agentId="two"),
        answer("x2", "x1", text("A."), isSidechain=True, agentId="one"),
        answer("y2", "y1", text("B."), isSidechain=True, agentId="two"),
        answer("y3", "y2", spawn("c9", "Deeper."), isSidechain=True, agentId="two"),
        user("z1", None, "Deeper.", isSidechain=True, agentId="three"),
    ]
    noted = {**ANSWERED[0], "toolUseResult": {"agentId": "two"}}
    [_, one, two, three] = read_all(*ASKED, *mixed, noted, ANSWERED[1])

    assert shape(one) == ["user: Do this.", "assistant: A."]
    assert one.parent == Parent(external_id=SESSION, relation=Relation.SUBAGENT)
    assert two.parent is not None
    assert two.parent.call_id == "c1"
    assert three.parent == Parent(
        external_id=f"{SESSION}/agent-two", relation=Relation.SUBAGENT, call_id="c9"
    )


def test_an_orphan_of_a_sidechain_hangs_on_the_agent_before_it() -> None:
    orphan = answer("x3", "gone", text("Late."), isSidechain=True)
    [_, agent] = read_all(*ASKED, *AGENT, orphan, *ANSWERED)

    assert shape(agent)[-1] == "assistant: Late."


def test_what_an_agent_left_stays_with_it() -> None:
    again = answer("x3", "x1", text("Done again."), isSidechain=True)
    [_, agent] = read_all(*ASKED, *AGENT, again, *ANSWERED)

    assert events(agent) == ["sidechain/assistant"]


def test_too_many_agents_stay_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_index, "MAX_AGENTS", 1)
    other = [user("y1", None, "Another.", isSidechain=True)]
    [thread, _] = read_all(*ASKED, *AGENT, *other, *ANSWERED)

    assert events(thread) == ["sidechain/user"]
    (left,) = thread.warnings
    assert left.code == "agents_left"
    assert "the others (1) are kept as events" in left.message


def test_agents_that_begin_with_a_summary_are_named_by_it() -> None:
    side = {"isSidechain": True}
    sums = [user(id_, None, "Sum.", **side, isCompactSummary=True) for id_ in "xy"]
    [_, *agents] = read_all(*ASKED, *sums, answer("x2", "x", text("On."), **side))

    assert [agent.external_id for agent in agents] == [
        f"{SESSION}/agent-x",
        f"{SESSION}/agent-y",
    ]


def test_a_file_of_agents_alone_is_one_conversation() -> None:
    second = [user("y1", None, "Also.", isSidechain=True)]
    [agent] = read_all(*AGENT, *second)

    assert len(shape(agent)) == 3
    assert agent.parent is not None


# Everything, always


IDS = [f"n{number}" for number in range(12)]
PARENTS = st.sampled_from([None, *IDS])


@st.composite
def graphs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Lines that hang on one another anyhow, and repeat themselves."""
    found = []
    for id_ in draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=14)):
        parent = draw(PARENTS)
        side = {"isSidechain": True} if draw(st.integers(0, 5)) == 0 else {}
        match draw(st.integers(0, 8)):
            case 0 | 1:
                found.append(user(id_, parent, f"Words {id_}.", **side))
            case 2 | 3:
                turn = draw(st.sampled_from(["", "m1", "m2"]))
                found.append(
                    answer(id_, parent, text(f"MessageLine {id_}."), turn=turn, **side)
                )
            case 4:
                found.append(
                    user(id_, parent, result(draw(st.sampled_from("ab"))), **side)
                )
            case 5:
                found.append(user(id_, parent, "Sum.", isCompactSummary=True, **side))
            case 6:
                boundary = {"subtype": "compact_boundary", "logicalParentUuid": parent}
                kept = {
                    "preservedMessages": {"uuids": draw(st.lists(st.sampled_from(IDS)))}
                }
                found.append(
                    record(
                        "system", id_, None, **boundary, compactMetadata=kept, **side
                    )
                )
            case 7:
                noted = {"leafUuid": parent, "explicit": draw(st.booleans())}
                found.append(
                    {"type": "last-prompt", "sessionId": SESSION, "n": id_, **noted}
                )
            case _:
                found.append(record("progress", id_, parent, **side))
    return found


def records_of(transcript: Transcript) -> Counter[str]:
    """The lines of what is a transcript's own: a branch begins with what it shares."""
    found: Counter[str] = Counter()
    skip = transcript.parent.at or 0 if transcript.parent else 0
    for item in transcript.items:
        if isinstance(item, Message):
            found.update(item.records if skip <= 0 else ())
            skip -= 1
        elif isinstance(item, Event):
            found[item.record] += 1
        elif skip <= 0:
            found.update([item.record, *(r for m in item.messages for r in m.records)])
    return found


@given(graphs(), st.randoms(use_true_random=False))
def test_every_line_is_told_once(
    found: list[dict[str, Any]], chance: random.Random
) -> None:
    chance.shuffle(found)
    spoken = user("s0", None, "Something.")
    told: Counter[str] = Counter()
    transcripts = read_all(spoken, *found)
    for transcript in transcripts:
        told.update(records_of(transcript))
        assert [*transcript.items] == [*transcript.items]

    assert len(told) == len(found) + 1
    assert len({t.external_id for t in transcripts}) == len(transcripts)


@given(graphs())
def test_a_compaction_replaces_messages_that_stand_before_it(
    found: list[dict[str, Any]],
) -> None:
    for transcript in read_all(user("s0", None, "Something."), *found):
        passed, hidden = 0, set[int]()
        for item in transcript.items:
            passed += isinstance(item, Message)
            if isinstance(item, Compaction):
                assert item.replaces and item.messages
                assert all(0 <= ordinal < passed for ordinal in item.replaces)
                assert hidden <= set(item.replaces)
                hidden |= set(item.replaces)


@given(graphs())
def test_a_branch_shares_what_it_says(found: list[dict[str, Any]]) -> None:
    transcripts = {
        t.external_id: t for t in read_all(user("s0", None, "Something."), *found)
    }
    for transcript in transcripts.values():
        parent = transcript.parent
        if parent and parent.relation is Relation.BRANCH:
            mine = [m for m in transcript.items if isinstance(m, Message)]
            theirs = transcripts[parent.external_id].items
            shared = [m for m in theirs if isinstance(m, Message)]
            at = parent.at or 0
            assert mine[:at] == shared[:at]
            assert len(mine) > at
