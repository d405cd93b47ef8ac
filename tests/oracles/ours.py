"""ContextStudio's own counts of a sample, in the terms that the oracles use."""

import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.folders import folder
from threads.domain import formats
from threads.domain.formats.agents import cline
from threads.domain.formats.benchmarks import inspect_eval
from threads.domain.message import Message
from threads.domain.part import Part, Text, ToolResult
from threads.domain.transcript import Compaction, Event, Transcript


@dataclass(frozen=True, slots=True)
class Ours:
    """The format that a sample is read as, and its counts; no counts if it is refused."""

    format: str
    counts: dict[str, int]


def read(path: Path) -> Ours:
    """Read a sample as an import does: unpack archives, read standalone files alone."""
    try:
        with _transcripts(path) as found:
            counts = Counter(sessions=len(found))
            for transcript in found:
                counts += _counted(transcript)
            return Ours(found[0].format, dict(counts))
    except Invalid as refusal:
        return Ours(refusal.code or "", {})


@contextmanager
def _transcripts(path: Path) -> Iterator[list[Transcript]]:
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        [gathered] = inspect_eval.gather(folder(files))
        yield gathered.transcripts
        return
    with path.open("rb") as file:
        yield formats.read(file, name=path.name)


def together(paths: list[Path]) -> Ours:
    """Read a session that several files form together: Cline's, with its manifest."""
    [gathered] = cline.gather(folder({path.name: path.read_bytes() for path in paths}))
    counts = Counter(sessions=len(gathered.transcripts))
    for transcript in gathered.transcripts:
        counts += _counted(transcript)
    return Ours(gathered.transcripts[0].format, dict(counts))


def _counted(transcript: Transcript) -> Counter[str]:
    counts: Counter[str] = Counter()
    for item in transcript.items:
        match item:
            case Message():
                counts += _of_message(item)
            case Event():
                counts["events"] += 1
                counts["other_lines"] += 1
            case Compaction():
                counts["compactions"] += 1
                counts["other_lines"] += 1
                counts["hidden"] += len(item.replaces)
                counts["replacements"] += len(item.messages)
                counts["spoken_lines"] += sum(len(one.records) for one in item.messages)
    counts["warnings"] += len(transcript.warnings)
    return counts


WORDS = {
    "tool_call": "calls",
    "tool_result": "results",
    "thinking": "thinking",
    "image": "images",
    "file": "files",
}


def _of_message(message: Message) -> Counter[str]:
    counts: Counter[str] = Counter(
        {
            message.role.value: 1,
            "spoken_lines": len(message.records),
            "output_tokens": message.usage.output_tokens if message.usage else 0,
        }
    )
    for part in message.parts:
        if isinstance(part, Text):
            counts["characters"] += len(part.text)
        if isinstance(part, ToolResult):
            counts["result_characters"] += sum(
                len(inner.text) for inner in part.content if isinstance(inner, Text)
            )
    for part in _parts(message):
        if part.kind in WORDS:
            counts[WORDS[part.kind]] += 1
    if message.role == "assistant":
        counts["assistant_texts"] += sum(part.kind == "text" for part in message.parts)
    return counts


def _parts(message: Message) -> Iterator[Part]:
    for part in message.parts:
        yield part
        if isinstance(part, ToolResult):
            yield from part.content
