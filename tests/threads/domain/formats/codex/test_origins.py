"""What names a rollout of Codex, how it is known, and where it comes from."""

import io
import json
import re
from typing import Any

import pytest

from tests.threads.support.readings import events, messages
from tests.threads.support.rollouts import (
    SESSION,
    as_file,
    call,
    event,
    item,
    meta,
    output,
    rollout,
    said,
    turn,
)
from threads.domain import formats
from threads.domain.formats import codex
from threads.domain.formats.codex.rollout import lines_with
from threads.domain.formats.io import source, windows
from threads.domain.transcript import Parent, Relation

from .rollouts import read


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("A lamp", [event("thread_name_updated", thread_name="A lamp"), *rollout()]),
        (
            "Mend it",
            [
                event(
                    "user_message", message="Open: a\n## My request for Codex:\nMend it"
                )
            ],
        ),
        ("Typed", [said("user", "<environment_context>"), said("user", "Typed")]),
        (
            "Typed",
            [said("developer", "x"), item("message", role="user", content="Typed")],
        ),
        ("<user_instructions>", [said("user", "<user_instructions>")]),
        ("Codex session 0199a000", [meta()]),
        ("Codex session", []),
    ],
)
def test_the_title_is_what_was_typed_first(title: str, found: list[Any]) -> None:
    assert read(*found, said("assistant", "Ho"))[0].title == title


def test_a_file_that_lost_its_top_is_known_by_its_name() -> None:
    name = f"rollout-2026-03-01T10-00-00-{SESSION}.jsonl"

    assert read(said("user", "Hi"), name=name)[0].external_id == SESSION


@pytest.mark.parametrize(
    ("members", "relation"),
    [
        ({"forked_from_id": "p"}, Relation.BRANCH),
        ({"history_base": {"thread_id": "p"}}, Relation.BRANCH),
        (
            {"parent_thread_id": "p", "source": {"subagent": "review"}},
            Relation.SUBAGENT,
        ),
        (
            {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}},
            Relation.SUBAGENT,
        ),
    ],
)
def test_a_fork_and_a_sub_agent_name_their_parent(
    members: dict[str, Any], relation: Relation
) -> None:
    again = meta(id="other", forked_from_id="x", base="Again.")
    transcript, items = read(meta(**members), said("user", "Hi"), again)

    assert transcript.parent == Parent(external_id="p", relation=relation)
    assert transcript.external_id == SESSION
    assert events(items) == ["session_meta", "session_meta"]


def test_a_rollout_that_goes_on_from_another_says_what_it_lacks() -> None:
    cut = {"thread_id": "p", "end_ordinal_exclusive": 5}
    transcript, items = read(meta(history_base=cut), said("user", "Hi"))

    assert [warning.code for warning in transcript.warnings] == ["history_missing"]
    assert events(items) == ["session_meta"]


OWN = "0199a000-0000-7000-8000-00000000000d"
SECOND = "0199a000-0000-7000-8000-00000000000e"


@pytest.mark.parametrize(
    ("file", "base", "id_", "parent"),
    [
        (SESSION, "p", SESSION, "p"),
        ("", "p", SESSION, "p"),
        (OWN, SESSION, OWN, SESSION),
        (SECOND, OWN, SECOND, OWN),
        ("", SESSION, f"{SESSION}/from-5", SESSION),
        (OWN, None, SESSION, None),
    ],
)
def test_a_reverted_thread_goes_on_in_a_rollout_that_its_file_names(
    file: str, base: str | None, id_: str, parent: str | None
) -> None:
    cut = {"thread_id": base, "end_ordinal_exclusive": 5} if base else {"x": 1}
    name = f"2026/03/01/rollout-2026-03-01T10-00-00-{file}.jsonl" if file else ""
    transcript, _ = read(meta(history_base=cut), said("user", "Hi"), name=name)

    assert transcript.external_id == id_
    found = transcript.parent
    assert (found and found.external_id) == parent
    assert not found or found.relation is Relation.BRANCH


def test_a_reverted_fork_or_sub_agent_goes_on_from_its_own_rollout() -> None:
    cut = {"thread_id": SESSION, "end_ordinal_exclusive": 5}
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}
    name = f"rollout-2026-03-01T10-00-00-{OWN}.jsonl"
    for members in ({"forked_from_id": "p"}, {"source": spawn}):
        top = meta(history_base=cut, **members)
        transcript, _ = read(top, said("user", "Hi"), name=name)
        parent = Parent(external_id=SESSION, relation=Relation.BRANCH)
        assert (transcript.external_id, transcript.parent) == (OWN, parent)


def test_the_model_of_the_whole_is_found_over_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [said("user", "Hi"), turn("gpt-1"), said("user", "x" * 200), turn("gpt-2")]
    for size in (1, 7, 100, 1000):
        monkeypatch.setattr(source, "CHUNK", size)
        monkeypatch.setattr(windows, "WINDOW", size)
        file = io.BytesIO(as_file(*lines))
        known = list(lines_with(file, re.compile(b'"gpt-2"')))
        assert len(known) == (size > 60), size


def test_a_rollout_is_known_by_its_records() -> None:
    raw = json.dumps(rollout()[0]).encode()
    odd = json.dumps({"type": ["session_meta"], "payload": {}}).encode()

    assert "codex" not in [candidate.format for candidate in formats.detect(odd)]
    assert formats.detect(raw)[0].format == "codex"
    assert codex.FORMAT.label == "a Codex rollout (JSONL)"


def test_bare_items_behind_a_header_are_read_alike() -> None:
    header = {"id": SESSION, "timestamp": "2025-06-01T10:00:00Z", "instructions": None}
    bare = [line["payload"] for line in (said("user", "Why?"), call("c"), output("c"))]
    transcript, items = read(header, {"record_type": "state"}, *bare, {"role": "user"})

    assert events(items) == ["session_meta", "state"]
    assert [str(message.role) for message in messages(items)] == [
        "user",
        "assistant",
        "tool",
        "user",
    ]
    assert (transcript.title, transcript.external_id) == ("Why?", SESSION)
