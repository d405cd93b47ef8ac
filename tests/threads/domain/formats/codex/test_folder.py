"""Codex's rollouts in a folder: sub-agents, linked to the calls that began them."""

import json
from typing import Any

import pytest

from tests.threads.support import folders
from tests.threads.support.rollouts import SESSION, as_file, event, meta, output, said
from threads.domain.formats.codex import session as codex_session
from threads.domain.formats.io.folder import Folder
from threads.domain.transcript import Parent, Relation

from .rollouts import spoken

CHILD = "0199a000-0000-7000-8000-00000000000c"


def folder(rollouts: dict[str, bytes]) -> Folder:
    """Rollouts by their sessions' ids, named as Codex does, beside a file of notes."""
    named = {
        f"2026/03/01/rollout-2026-03-01T10-00-00-{id_}.jsonl": raw
        for id_, raw in rollouts.items()
    }
    return folders.folder({**named, "notes.jsonl": b""})


@pytest.mark.parametrize(
    ("found", "call_id"),
    [
        (output("c7", json.dumps({"agent_id": CHILD, "nickname": "Ann"})), "c7"),
        (event("sub_agent_activity", agent_thread_id=CHILD, event_id="c8"), "c8"),
    ],
)
def test_a_sub_agent_is_linked_to_the_call_that_began_it(
    found: Any, call_id: str
) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": SESSION}}}
    told = said("user", f"Begin {CHILD}")
    parent = as_file(meta(), told, output("c6", f"No {CHILD}"), found)
    child = as_file(meta(id=CHILD, source=spawn), said("user", "Look."))
    [gathered] = codex_session.gather(folder({SESSION: parent, CHILD: child}))

    [transcript] = gathered.transcripts
    assert transcript.parent == Parent(
        external_id=SESSION, relation=Relation.SUBAGENT, call_id=call_id
    )
    assert gathered.members == {transcript.member}
    assert CHILD in transcript.member
    assert spoken(list(transcript.items)) == [("user", "Look.")]


def test_rollouts_without_a_call_in_the_folder_are_left_alone() -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": SESSION}}}
    called = event("sub_agent_activity", agent_thread_id=CHILD, event_id="c8")
    silent = as_file(meta(id=CHILD, source=spawn))
    child = silent + as_file(said("user", "Hi"))
    broken = b"{\n" * 6

    for files in (
        {CHILD: child},
        {SESSION: as_file(meta(), said("user", "Hi")), CHILD: child},
        {SESSION: as_file(meta(), called), CHILD: silent},
        {SESSION: broken, CHILD: as_file(meta(id=CHILD, forked_from_id=SESSION))},
    ):
        assert codex_session.gather(folder(files)) == []
