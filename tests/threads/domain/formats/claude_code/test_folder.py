"""Sessions of Claude Code as they lie on a disk, with their sub-agents in other files."""

import json
from typing import Any

from tests.threads.support.folders import folder
from tests.threads.support.readings import events
from tests.threads.support.transcripts import (
    SESSION,
    answer,
    claude_lines,
    lines,
    record,
    result,
    spawn,
    text,
    user,
)
from threads.domain.formats import claude_code
from threads.domain.formats.io.folder import Gathered
from threads.domain.message import Message
from threads.domain.transcript import Event, Parent, Relation, Transcript

from .sessions import shape

OTHER = "5d1f2f6e-0000-4000-8000-000000000009"


def gather(files: dict[str, bytes]) -> list[Gathered]:
    assert claude_code.FORMAT.gather is not None
    return claude_code.FORMAT.gather(folder(files))


def agent(id_: str, asked: str, *more: Any, **members: Any) -> bytes:
    side = {"isSidechain": True, "agentId": id_, **members}
    return lines(
        user(f"{id_}1", None, asked, **side),
        answer(f"{id_}2", f"{id_}1", text(f"{id_} did it."), **side),
        *more,
    )


def meta(**members: Any) -> bytes:
    return json.dumps({"agentType": "Explore", **members}).encode()


ASKING = lines(
    user("u1", None, "Look around."),
    answer("a1", "u1", spawn("c1", "Do this.", "Doing it"), turn="m"),
    answer("a2", "a1", spawn("c2", "Do that."), turn="m"),
    answer("a3", "a2", spawn("c3", "And more."), turn="m"),
    {**user("r1", "a1", result("c1")), "toolUseResult": {"agentId": "one"}},
    user("r2", "a2", result("c2")),
)
S = f"p/{SESSION}"


def test_a_session_comes_with_its_sub_agents() -> None:
    [found] = gather(
        {
            f"{S}.jsonl": ASKING,
            f"{S}/subagents/agent-one.jsonl": agent("one", "Do this."),
            f"{S}/subagents/agent-one.meta.json": meta(),
            f"{S}/subagents/agent-two.jsonl": agent("two", "Something else."),
            f"{S}/subagents/agent-two.meta.json": meta(
                toolUseId="c2", description="That"
            ),
            "p/agent-three.jsonl": agent("three", "And more."),
            f"{S}/subagents/workflows/w1/agent-four.jsonl": agent(
                "four", "Unheard of."
            ),
            f"{S}/subagents/workflows/w1/journal.jsonl": lines({"type": "started"}),
            f"{S}/workflows/w1.json": b"{}",
            "p/other.txt": b"not of it",
        }
    )
    session, one, two, four, three = found.transcripts

    assert session.external_id == SESSION
    assert session.member == f"p/{SESSION}.jsonl"
    assert events(session) == ["file/journal.jsonl", "file/w1.json"]
    assert [t.parent for t in (one, two, three, four)] == [
        Parent(external_id=SESSION, relation=Relation.SUBAGENT, call_id=call_id)
        for call_id in ("c1", "c2", "c3", None)
    ]
    assert [t.external_id for t in (one, four)] == [
        f"{SESSION}/agent-one",
        f"{SESSION}/agent-four",
    ]
    assert [t.title for t in (one, two, three)] == ["Doing it", "That", "And more."]
    assert one.member == f"p/{SESSION}/subagents/agent-one.jsonl"
    assert shape(one) == ["user: Do this.", "assistant: one did it."]
    assert events(one) == ["file/agent-one.meta.json"]
    *_, last = one.items
    assert isinstance(last, Event)
    assert last.record == f"p/{SESSION}/subagents/agent-one.meta.json#bytes:0-24"
    assert len(found.members) == 9


def test_an_agent_may_call_another() -> None:
    side = {"isSidechain": True, "agentId": "one"}
    deeper = answer("one3", "one2", spawn("c9", "Deeper."), **side)
    [found] = gather(
        {
            f"{S}.jsonl": ASKING,
            f"{S}/subagents/agent-one.jsonl": agent("one", "Do this.", deeper),
            f"{S}/subagents/agent-two.jsonl": agent("two", "Deeper."),
        }
    )

    assert found.transcripts[2].parent == Parent(
        external_id=f"{SESSION}/agent-one", relation=Relation.SUBAGENT, call_id="c9"
    )


def test_agents_of_a_workflow_are_those_of_the_call_that_began_its_run() -> None:
    begun = {**user("r1", "a1", result("c1")), "toolUseResult": {"runId": "w1"}}
    place = f"{S}/subagents/workflows"
    elsewhere = agent("two", "Do that.", sessionId="agent-two")
    [found] = gather(
        {
            f"{S}.jsonl": lines(user("u1", None, "Run it."), begun),
            f"{place}/w1/agent-one.jsonl": agent("one", "Do this."),
            f"{place}/w1/agent-two.jsonl": elsewhere,
            f"{place}/w2/agent-three.jsonl": agent("three", "And more."),
        }
    )

    assert [one.parent for one in found.transcripts[1:]] == [
        Parent(external_id=SESSION, relation=Relation.SUBAGENT, call_id=call_id)
        for call_id in ("c1", "c1", None)
    ]


def test_an_agent_without_its_session_is_read_all_the_same() -> None:
    [found] = gather(
        {
            "agent-one.jsonl": agent("one", "Do this."),
            "agent-one.meta.json": b"{broken",
            "agent-two.jsonl": lines({"type": "mode", "sessionId": SESSION}),
        }
    )

    assert [t.parent for t in found.transcripts] == [
        Parent(external_id=SESSION, relation=Relation.SUBAGENT)
    ]
    assert len(found.members) == 2


def test_agents_that_hold_nothing_are_left_out() -> None:
    empty = lines(record("system", "s", None, isSidechain=True))
    [found] = gather({f"{S}.jsonl": ASKING, f"{S}/subagents/agent-x.jsonl": empty})

    assert len(found.transcripts) == 1
    assert gather({"agent-x.jsonl": empty}) == []


def test_an_agent_s_file_is_named_after_it_where_its_lines_are_not() -> None:
    nameless = agent("x", "Do this.", agentId="")
    [found] = gather({f"{S}.jsonl": ASKING, f"{S}/subagents/agent-x7.jsonl": nameless})

    assert found.transcripts[1].external_id == f"{SESSION}/agent-x7"


def test_a_session_alone_and_files_of_others_are_left_to_be_read_alone() -> None:
    assert gather({f"{S}.jsonl": ASKING, "p/notes.jsonl": lines({"a": 1})}) == []


# Sessions that go on from others


def renamed(records: list[dict[str, Any]], session: str) -> list[dict[str, Any]]:
    return [{**record, "sessionId": session} for record in records]


WHOLE = claude_lines()[1:]
MORE = [user("u5", "a3", "Go on."), answer("a5", "u5", text("Gone on."))]


def told(transcript: Transcript) -> int:
    return sum(isinstance(item, Message) for item in transcript.items)


def test_a_session_that_was_resumed_into_a_new_file_continues_the_first() -> None:
    first, second = gather(
        {
            f"{OTHER}.jsonl": lines(*renamed(WHOLE, OTHER), *renamed(MORE, OTHER)),
            f"{SESSION}.jsonl": lines(*WHOLE),
        }
    )
    [earlier], [later] = first.transcripts, second.transcripts

    assert earlier.parent is None
    assert later.parent == Parent(
        external_id=SESSION, relation=Relation.CONTINUATION, at=told(earlier)
    )
    assert told(later) == told(earlier) + 2


def test_a_session_that_went_another_way_is_a_branch_of_the_first() -> None:
    aside = [{**user("u6", "a3", "Or so."), "timestamp": "2026-03-02T10:00:00Z"}]
    third = "5d1f2f6e-0000-4000-8000-00000000000a"
    found = gather(
        {
            f"{SESSION}.jsonl": lines(*WHOLE, *MORE),
            f"{OTHER}.jsonl": lines(*WHOLE, *renamed(aside, OTHER)),
            f"{third}.jsonl": lines(*renamed(WHOLE[:1], third)),
        }
    )
    parents = {t.external_id: t.parent for one in found for t in one.transcripts}

    assert parents == {
        SESSION: None,
        OTHER: Parent(external_id=SESSION, relation=Relation.BRANCH, at=5),
        third: Parent(external_id=SESSION, relation=Relation.BRANCH, at=1),
    }


def test_a_session_without_a_name_is_nobody_s_parent() -> None:
    nameless = [{**WHOLE[0], "sessionId": "s" * 200}]
    found = gather({"a.jsonl": lines(*nameless), f"{SESSION}.jsonl": lines(*WHOLE)})
    parents = [(t.external_id, t.parent) for one in found for t in one.transcripts]

    assert (SESSION, None) in parents


def test_a_copy_of_a_session_is_not_its_own_parent() -> None:
    found = gather({"copy.jsonl": lines(*WHOLE), f"{SESSION}.jsonl": lines(*WHOLE)})

    assert [t.parent for one in found for t in one.transcripts] == [None, None]
