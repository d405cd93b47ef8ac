"""Real files of agents' tools and benchmarks: the facts of each, counted by others before."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from contextstudio.accounts.domain.errors import Invalid
from threads.domain import formats
from threads.domain.formats.agents import cline
from threads.domain.formats.io.folder import Folder, Member
from threads.domain.message import Message
from threads.domain.part import ToolCall, ToolResult
from threads.domain.transcript import Event, Relation, Transcript


class Facts(NamedTuple):
    """What a file comes to: conversations, messages by role, calls, results, events, tokens."""

    transcripts: int
    roles: dict[str, int]
    calls: int = 0
    results: int = 0
    events: int = 0
    output: int = 0


FACTS = {
    "copilot_cli/agentv-copilot-events.jsonl": Facts(
        1, {"system": 1, "user": 4, "assistant": 56, "tool": 61}, 61, 61, 348, 41_776
    ),
    "pi/large-session.jsonl": Facts(
        1, {"user": 88, "assistant": 453, "tool": 373}, 391, 373, 105, 83_156
    ),
    "swe_agent/marshmallow-1867-function_calling.traj": Facts(
        1, {"system": 1, "user": 1, "assistant": 13, "tool": 13}, 13, 13, 4
    ),
    "swe_agent/pydicom-1458-v0.traj": Facts(
        1, {"system": 1, "user": 13, "assistant": 12}, events=3
    ),
    "tau_bench/gpt-4o-airline.json": Facts(
        200,
        {"system": 200, "user": 1490, "assistant": 2454, "tool": 1164},
        1164,
        1164,
        800,
    ),
    "openhands/resolver-output-2024.jsonl": Facts(
        2, {"user": 2, "assistant": 26, "tool": 24}, 26, 24, 20
    ),
    "openhands/basic_gui_mode.json": Facts(
        1, {"user": 1, "assistant": 5, "tool": 4}, 4, 4, 8, 2_024
    ),
    "openhands/sdk-v1-events.jsonl": Facts(1, {"assistant": 2, "tool": 3}, 2, 3, 5),
    "cline/cline-sdk-session.messages.json": Facts(
        1, {"system": 1, "user": 16, "assistant": 16}, 11, 11, 4, 4_395
    ),
    "aider/chat-history.md": Facts(
        1134, {"user": 1776, "assistant": 1214}, events=3949
    ),
    "specstory/droid-provider.md": Facts(
        1, {"user": 9, "assistant": 61, "tool": 22}, 23, 22, 1
    ),
}


def facts_of(found: list[Transcript]) -> Facts:
    roles: Counter[str] = Counter()
    calls = results = events = output = 0
    for transcript in found:
        for item in transcript.items:
            if isinstance(item, Message):
                roles[str(item.role)] += 1
                calls += sum(isinstance(part, ToolCall) for part in item.parts)
                results += sum(isinstance(part, ToolResult) for part in item.parts)
                output += item.usage.output_tokens if item.usage else 0
            events += isinstance(item, Event)
        assert all(warning.code == "no_messages" for warning in transcript.warnings)
    return Facts(len(found), dict(roles), calls, results, events, output)


@pytest.mark.parametrize("name", FACTS)
def test_a_sample_comes_to_what_was_counted(samples: Path, name: str) -> None:
    path = samples / name
    with path.open("rb") as file:
        found = formats.read(file, name=path.name)
        counted = facts_of(found)

    assert found[0].format == path.parent.name
    assert counted == FACTS[name]


def test_the_chats_of_aider_are_as_many_as_were_started(samples: Path) -> None:
    with (samples / "aider/chat-history.md").open("rb") as file:
        found = formats.read(file)
        before, *started = found
        silent = [
            one
            for one in started
            if not any(isinstance(item, Message) for item in one.items)
        ]

    assert (before.external_id, len(started), len(silent)) == (None, 1133, 430)
    assert len({one.external_id for one in started}) == 1133


def test_a_cline_session_and_its_manifest_come_together(samples: Path) -> None:
    names = ("cline-sdk-session.json", "cline-sdk-session.messages.json")
    paths = {name: samples / "cline" / name for name in names}
    with pytest.raises(Invalid), paths[names[0]].open("rb") as file:
        formats.read(file)
    [gathered] = cline.gather(
        Folder(
            {
                name: Member(
                    name, path.stat().st_size, lambda path=path: path.open("rb")
                )  # type: ignore[misc]
                for name, path in paths.items()
            }
        )
    )
    [found] = gathered.transcripts

    assert gathered.members == set(names)
    assert found.parent is not None
    assert found.parent.relation is Relation.BRANCH
