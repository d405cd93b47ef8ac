"""Real files of chat services, evaluations and traces: counted beside the parser."""

import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.threads.support.folders import folder
from threads.domain import formats
from threads.domain.formats.benchmarks import inspect_eval
from threads.domain.formats.io.folder import Folder
from threads.domain.message import Message
from threads.domain.part import Part, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript


def read(path: Path) -> Iterator[tuple[Transcript, list[Message], list[Event]]]:
    with path.open("rb") as file:
        for transcript in formats.read(file, name=path.name):
            items = list(transcript.items)
            messages = [item for item in items if isinstance(item, Message)]
            events = [item for item in items if isinstance(item, Event)]
            yield transcript, messages, events


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def test_the_chatgpt_export_of_2023(samples: Path) -> None:
    path = samples / "chatgpt_export/convonaut-conversations-2023.json"
    found = list(read(path))
    nodes = [node for one in load(path) for node in one["mapping"].values()]
    said = [node["message"] for node in nodes if node["message"]]
    messages = [message for _, messages, _ in found for message in messages]

    assert [transcript.format for transcript, _, _ in found] == ["chatgpt"] * 7
    assert Counter(m.role for m in messages) == {"user": 21, "assistant": 14}
    assert Counter(m.role for m in messages) == Counter(
        message["author"]["role"] for message in said
    )
    assert [m.text for m in messages] == [m["content"]["parts"][0] for m in said]
    assert sum(len(events) for _, _, events in found) == len(nodes) - len(said) == 7
    assert not any(transcript.parent for transcript, _, _ in found)


def unpacked(path: Path) -> Folder:
    with zipfile.ZipFile(path) as archive:
        return folder({name: archive.read(name) for name in archive.namelist()})


def gathered(path: Path) -> Iterator[tuple[Transcript, list[Message], list[Event]]]:
    files = unpacked(path)
    [found] = inspect_eval.gather(files)
    assert found.members == files.members.keys()
    for transcript in found.transcripts:
        items = list(transcript.items)
        messages = [item for item in items if isinstance(item, Message)]
        yield transcript, messages, [item for item in items if isinstance(item, Event)]


def test_the_inspect_log_as_json(samples: Path) -> None:
    path = samples / "inspect/browser-2025-05.json"
    [(transcript, messages, events)] = read(path)
    [sample] = load(path)["samples"]
    used = [message.usage for message in messages if message.usage]
    [total] = sample["model_usage"].values()

    assert (transcript.format, transcript.title) == ("inspect", "browser 1, epoch 1")
    assert Counter(m.role for m in messages) == {"user": 1, "assistant": 5, "tool": 4}
    assert sum(u.input_tokens for u in used) == total["input_tokens"] == 15_235
    assert sum(u.output_tokens for u in used) == total["output_tokens"] == 281
    assert (
        sum(u.cached_tokens for u in used) == total["input_tokens_cache_read"] == 9_088
    )
    assert len(events) == len(sample["events"]) + 6 == 49
    assert not any("attachment://" in str(message) for message in messages)
    assert transcript.warnings == []


def test_the_inspect_archive_of_sixteen_samples(samples: Path) -> None:
    found = list(gathered(samples / "inspect/security-guide-2025-09.eval"))

    assert len(found) == 16
    for number, (transcript, messages, events) in enumerate(found, 1):
        assert transcript.title == f"security_guide {number}, epoch 1"
        assert [m.role for m in messages] == ["system", "user", "assistant"]
        assert (len(events), transcript.warnings) == (24, [])
        assert "attachment://" not in str(messages)


def test_the_inspect_archive_with_a_pool_of_messages(samples: Path) -> None:
    [(_, messages, events)] = gathered(
        samples / "inspect/log_message_deduplication.eval"
    )

    assert Counter(m.role for m in messages) == {"user": 1, "assistant": 6, "tool": 5}
    assert len(events) == 42 + 6


def parts_of(messages: list[Message], kind: type[Part]) -> list[Part]:
    return [
        part for message in messages for part in message.parts if isinstance(part, kind)
    ]


def observations(path: Path, type_: str) -> list[Any]:
    return [one for one in load(path)["observations"] if one["type"] == type_]


def test_the_langfuse_trace_of_requests_without_history(samples: Path) -> None:
    path = samples / "langfuse/claude-agent-2025-12-22.trace.json"
    [(transcript, messages, events)] = read(path)
    generations, tools = observations(path, "GENERATION"), observations(path, "TOOL")
    used = [message.usage for message in messages if message.usage]

    # The system's prompt and the question are the program's; every request has one answer.
    assert len(messages) == 2 + len(generations) + len(tools) == 8
    assert Counter(m.role for m in messages) == {
        "system": 1,
        "user": 1,
        "assistant": 4,
        "tool": 2,
    }
    calls = [
        part.id for part in parts_of(messages, ToolCall) if isinstance(part, ToolCall)
    ]
    results = parts_of(messages, ToolResult)
    assert [r.call_id for r in results if isinstance(r, ToolResult)] == calls
    assert sum(u.output_tokens for u in used) == sum(
        one["usageDetails"]["output"] for one in generations
    )
    assert (transcript.format, events) == ("langfuse", [])


def test_the_langfuse_trace_of_langgraph(samples: Path) -> None:
    path = samples / "langfuse/langgraph-python-2025-08-22.trace.json"
    [(_, messages, events)] = read(path)
    whole = len(load(path)["observations"])

    roles = ["user", "user", "assistant", "tool", "assistant"]
    assert [message.role for message in messages] == roles
    assert len(events) == whole - len(observations(path, "GENERATION")) == 7
    assert [m.usage.output_tokens for m in messages if m.usage] == [15, 51]


def test_the_langfuse_trace_of_opentelemetry_messages(samples: Path) -> None:
    path = samples / "langfuse/microsoft-agent-2025-12-17.trace.json"
    [(_, messages, events)] = read(path)

    roles = ["system", "user", "assistant", "tool", "assistant"]
    assert [message.role for message in messages] == roles
    assert [event.type for event in events] == ["tool/get_weather"]
    assert [m.usage.output_tokens for m in messages if m.usage] == [86, 20]
