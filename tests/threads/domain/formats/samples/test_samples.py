"""Real files: the facts of each, counted by others before."""

import io
from collections import Counter
from pathlib import Path

import pytest
from atif import Trajectory

from contextstudio.accounts.domain.errors import Invalid
from threads.domain import formats
from threads.domain.message import Message
from threads.domain.part import Image, Part, Text, ToolCall, ToolResult
from threads.domain.transcript import Compaction, Event, Transcript

READ = (
    "chatgpt_export",
    "claude_code",
    "codex",
    "inspect",
    "langfuse",
    "mini_swe_agent",
    "openai_chat",
)
REFUSED = {}


def read(path: Path) -> tuple[Transcript, list[Message], list[Event]]:
    with path.open("rb") as file:
        [transcript] = formats.read(file, name=path.name)
        items = list(transcript.items)
    messages = [item for item in items if isinstance(item, Message)]
    return transcript, messages, [item for item in items if isinstance(item, Event)]


def parts(messages: list[Message]) -> list[Part]:
    found: list[Part] = []
    for message in messages:
        for part in message.parts:
            found += [part, *(part.content if isinstance(part, ToolResult) else ())]
    return found


def pairs(messages: list[Message]) -> tuple[set[str], set[str]]:
    """The ids of calls and of results."""
    found = parts(messages)
    calls = [part.id for part in found if isinstance(part, ToolCall)]
    results = [part.call_id for part in found if isinstance(part, ToolResult)]
    assert len(calls) == len(set(calls))
    assert len(results) == len(set(results))
    return set(calls), set(results)


def test_the_long_claude_code_session(samples: Path) -> None:
    transcript, messages, events = read(samples / "claude_code/omp-long-2.1.2xx.jsonl")
    calls, results = pairs(messages)
    pictures = [part for part in parts(messages) if isinstance(part, Image)]
    types = Counter(event.type for event in events)

    assert Counter(message.role for message in messages) == {
        "assistant": 610,
        "user": 622,
    }
    assert (len(calls), calls) == (591, results)
    assert sum(m.usage.output_tokens for m in messages if m.usage) == 274_317
    assert types["system/compact_boundary"] == 1
    assert [(p.data or b"")[:8] for p in pictures] == [b"\x89PNG\r\n\x1a\n"] * 2
    assert sum(len(message.records) for message in messages) + len(events) == 1718
    assert transcript.warnings == []


def test_the_claude_code_session_with_progress_in_its_chain(samples: Path) -> None:
    path = samples / "claude_code/entire-image-compact-progress.jsonl"
    transcript, messages, events = read(path)
    calls, results = pairs(messages)

    assert (len(calls), len(calls - results), results - calls) == (127, 1, set())
    assert sum(event.type.startswith("progress/") for event in events) == 293
    assert not any(event.type.startswith("branch/") for event in events)
    assert Counter(message.role for message in messages) == {
        "assistant": 134,
        "user": 156,
    }
    with path.open("rb") as file:
        [transcript] = formats.read(file)
        replaced = [len(getattr(item, "replaces", ())) for item in transcript.items]
    assert sum(replaced) == 241
    assert transcript.warnings == []


def test_the_small_claude_code_session(samples: Path) -> None:
    _, messages, _ = read(samples / "claude_code/entire-small.jsonl")

    assert Counter(message.role for message in messages) == {
        "assistant": 10,
        "user": 15,
    }


def test_the_long_codex_rollout(samples: Path) -> None:
    with (samples / "codex/agentv-long-0.14x.jsonl").open("rb") as file:
        [transcript] = formats.read(file)
        items = list(transcript.items)
    messages = [item for item in items if isinstance(item, Message)]
    events = [item for item in items if isinstance(item, Event)]
    compactions = [item for item in items if isinstance(item, Compaction)]
    calls, results = pairs(messages)
    types = Counter(event.type for event in events)

    assert Counter(message.role for message in messages) == {
        "system": 1,
        "developer": 1,
        "user": 10,
        "assistant": 327,
        "tool": 531,
    }
    answers = [m.parts for m in messages if m.role == "assistant"]
    assert sum(isinstance(part, Text) for found in answers for part in found) == 266
    assert (len(calls), calls) == (531, results)
    assert sum(message.usage is not None for message in messages) == 327
    assert sum(m.usage.output_tokens for m in messages if m.usage) == 117_161
    assert types["event_msg/agent_message"] == 266
    assert types["event_msg/token_count"] == 330
    assert [len(one.replaces) for one in compactions] == [269, 456, 673]
    assert [len(one.messages) for one in compactions] == [4, 5, 11]
    records = sum(len(message.records) for message in messages)
    assert records + len(events) + len(compactions) == 2302
    assert transcript.warnings == []


def test_the_small_codex_rollout(samples: Path) -> None:
    transcript, messages, events = read(samples / "codex/agentv-small.jsonl")
    calls, results = pairs(messages)

    assert (len(calls), len(results), results - calls) == (23, 21, set())
    assert Counter(message.role for message in messages) == {
        "system": 1,
        "developer": 1,
        "user": 3,
        "assistant": 11,
        "tool": 21,
    }
    assert sum(m.usage.output_tokens for m in messages if m.usage) == 2_958
    assert sum(len(message.records) for message in messages) + len(events) == 92
    assert (transcript.model, transcript.warnings) == ("gpt-5.4", [])


def test_the_gemini_cli_sessions(samples: Path) -> None:
    transcript, messages, events = read(
        samples / "gemini_cli/entire-gemini-session.json"
    )
    _, small, _ = read(samples / "gemini_cli/entire-gemini-session-small.json")
    calls, results = pairs(messages)

    assert Counter(message.role for message in messages) == {
        "user": 1,
        "assistant": 11,
        "tool": 9,
    }
    assert (len(calls), calls, [event.type for event in events]) == (
        9,
        results,
        ["info"],
    )
    assert sum(m.usage.output_tokens for m in messages if m.usage) == 1_812
    assert Counter(message.role for message in small) == {
        "user": 1,
        "assistant": 6,
        "tool": 4,
    }
    assert transcript.warnings == []


def test_the_opencode_export(samples: Path) -> None:
    transcript, messages, events = read(samples / "opencode/bestcodes-export-1.18.json")
    calls, results = pairs(messages)
    failed = [p for p in parts(messages) if isinstance(p, ToolResult) and p.is_error]

    assert Counter(message.role for message in messages) == {
        "user": 10,
        "assistant": 71,
        "tool": 63,
    }
    assert (len(calls), calls, len(failed)) == (79, results, 5)
    assert Counter(event.type for event in events) == {
        "step-start": 71,
        "step-finish": 70,
        "patch": 18,
    }
    usages = [message.usage for message in messages if message.usage]
    assert sum(usage.input_tokens for usage in usages) == 57_197 + 3_379_968
    assert sum(usage.output_tokens for usage in usages) == 11_355 + 8_965
    assert transcript.warnings == []


def test_the_atif_trajectories(samples: Path) -> None:
    whole, messages, events = read(
        samples / "atif/openhands_hello-world.trajectory.json"
    )
    continued, later, _ = read(
        samples / "atif/terminus_2-summarization.trajectory.cont-1.json"
    )
    calls, results = pairs(messages)

    assert Counter(message.role for message in messages) == {
        "system": 3,
        "user": 1,
        "assistant": 2,
        "tool": 1,
    }
    assert (len(calls), len(results), events, whole.warnings) == (2, 1, [], [])
    assert Counter(message.role for message in later) == {"user": 7, "assistant": 5}
    assert continued.parent is not None
    assert continued.parent.external_id == whole.external_id


@pytest.mark.parametrize("format", ["atif", "atif_zip", "gemini"])
def test_samples_are_exported_and_validate(samples: Path, format: str) -> None:
    for name in ("atif", "gemini_cli", "opencode"):
        for path in sorted((samples / name).iterdir()):
            _, messages, _ = read(path)
            raw = b"".join(formats.write(format, messages))
            if format == "atif":
                Trajectory.model_validate_json(raw)
                [again] = formats.read(io.BytesIO(raw))
                assert [
                    (message.role, message.parts, message.usage)
                    for message in again.items
                    if isinstance(message, Message)
                ] == [(m.role, m.parts, m.usage) for m in messages]


def test_the_openai_log_with_its_response(samples: Path) -> None:
    transcript, messages, events = read(
        samples / "openai_chat/openhands-sdk-litellm-claude.json"
    )

    assert (len(messages), transcript.warnings) == (13, [])
    assert [event.type for event in events][:2] == ["tools", "kwargs"]
    assert messages[-1].usage is not None


def test_the_bare_list_of_roles_and_contents(samples: Path) -> None:
    transcript, messages, _ = read(samples / "mini_swe_agent/github_issue.traj.json")

    assert (transcript.format, len(messages)) == ("openai", 22)


def test_every_other_sample_is_refused_with_its_name(samples: Path) -> None:
    for path in sorted(samples.glob("*/*")):
        if path.parent.name not in REFUSED:
            continue
        with pytest.raises(Invalid) as refusal, path.open("rb") as file:
            formats.read(file, name=path.name)

        assert refusal.value.code == "format_unsupported", path
        assert REFUSED[path.parent.name] in refusal.value.message
