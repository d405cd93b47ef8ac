"""What was rolled back in a rollout of Codex: branches beside the thread."""

import io
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events
from tests.threads.support.rollouts import SESSION, as_file, event, meta, record, said
from threads.domain import formats
from threads.domain.formats.codex import rollout
from threads.domain.transcript import Parent, Relation, Transcript

from .rollouts import read, spoken


def test_what_was_rolled_back_is_a_branch_beside_the_thread() -> None:
    _, items = read(
        said("user", "One"),
        said("assistant", "First."),
        said("developer", "<permissions instructions>"),
        said("user", "Two"),
        said("assistant", "Second."),
        event("thread_rolled_back", num_turns=1),
        said("user", "Three"),
        said("assistant", "Third."),
    )

    assert [text for _, text in spoken(items)] == ["One", "First.", "Three", "Third."]
    assert events(items) == [
        "branch/response_item/message",
        "branch/response_item/message",
        "branch/response_item/message",
        "event_msg/thread_rolled_back",
    ]


def test_rollbacks_reach_back_over_earlier_ones_but_not_before_the_first_turn() -> None:
    _, items = read(
        event("thread_rolled_back", num_turns=1),
        said("user", "<environment_context>"),
        said("user", "One"),
        record("inter_agent_communication", {"author": "/a", "content": "Two"}),
        b_broken := event("thread_rolled_back", num_turns=1),
        said("user", "Three"),
        said("assistant", "Third."),
        event("thread_rolled_back", num_turns=9),
        said("user", "Four"),
    )

    assert b_broken["payload"]["num_turns"] == 1
    assert [text for _, text in spoken(items)] == ["<environment_context>", "Four"]
    assert events(items).count("event_msg/thread_rolled_back") == 2


def test_two_rollbacks_of_two_turns_are_two_branches() -> None:
    _, items = read(
        said("user", "One"),
        said("user", "Two"),
        event("thread_rolled_back", num_turns=1),
        said("user", "Three"),
        said("user", "Four"),
        event("thread_rolled_back", num_turns=1),
        said("user", "Five"),
    )

    assert [text for _, text in spoken(items)] == ["One", "Three", "Five"]


def branches(*found: Any) -> list[tuple[Transcript, list[str]]]:
    _, *rest = formats.read(io.BytesIO(as_file(*found)), "codex")
    return [(one, [text for _, text in spoken(list(one.items))]) for one in rest]


def test_a_branch_is_a_conversation_that_says_what_it_shares() -> None:
    [(branch, texts)] = branches(
        meta(base="Be a lamp."),
        said("user", "One"),
        event("agent_message"),
        said("assistant", "First."),
        said("user", "<environment_context>"),
        said("user", "Two"),
        event("agent_message"),
        event("thread_rolled_back", num_turns=1),
        said("user", "Three"),
    )

    assert texts == ["Be a lamp.", "One", "First.", "<environment_context>", "Two"]
    assert events(list(branch.items)) == ["event_msg/agent_message"]
    assert (branch.title, branch.external_id) == ("Two", f"{SESSION}/branch-8")
    assert branch.parent == Parent(external_id=SESSION, relation=Relation.BRANCH, at=3)


def test_a_branch_within_a_branch_is_one_of_that() -> None:
    first, second = branches(
        meta(),
        said("user", "One"),
        said("user", "Two"),
        event("thread_rolled_back", num_turns=1),
        said("user", "Three"),
        event("thread_rolled_back", num_turns=2),
        said("user", "Four"),
    )

    assert (first[1], second[1]) == (["One", "Two"], ["One", "Three"])
    assert first[0].parent and second[0].parent
    assert first[0].parent.external_id == second[0].external_id
    assert (first[0].parent.at, second[0].parent.at) == (1, 0)
    assert second[0].parent.external_id == SESSION


def test_what_can_t_be_read_of_a_branch_is_told_once() -> None:
    thread, branch = formats.read(
        io.BytesIO(
            as_file(
                meta(),
                said("user", "One"),
                said("user", "Two"),
                said("critic", "Bah"),
                event("thread_rolled_back", num_turns=1),
            )
        ),
        "codex",
    )
    list(thread.items), list(branch.items)

    assert [warning.line for warning in thread.warnings] == [4]
    assert branch.warnings == []


def test_very_many_rollbacks_are_not_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rollout, "MAX_ROLLBACKS", 2)
    turns = [said("user", "Two"), event("thread_rolled_back", num_turns=1)] * 4

    assert len(branches(meta(), said("user", "One"), *turns)) == 2


def test_the_report_says_how_many_rollbacks_are_no_sessions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rollout, "BRANCHES", 1)
    turns = [said("user", "Two"), event("thread_rolled_back", num_turns=1)] * 3
    with pytest.raises(Invalid, match="holds no messages"):
        formats.read(io.BytesIO(as_file(meta(), *turns)), "codex")
    thread, branch = formats.read(
        io.BytesIO(as_file(meta(), *turns, said("user", "Three"))), "codex"
    )
    list(thread.items), list(branch.items)

    (left,) = thread.warnings
    assert left.code == "branches_left" and "2 more" in left.message
    assert branch.warnings == []
