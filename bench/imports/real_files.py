"""Checks whether real files lose text: every string of 40 characters or more is looked up.

The files are those listed in docs/formats.md. They belong to others and are not part of this
project: `REAL_FILES` names a folder with clones of their repositories, as `<owner>/<name>`. Each
file is read, and each of its strings must occur in a message, in the record of an event, or in a
member for which `REASONS` says why it isn't part of the conversation. This counts independently of
`threads.domain.leaves`, which counts for the import's report.

`python -m bench.imports.real_files [WORD]` prints what is lost, `--write` writes the table.
"""

import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench.context.replay import Row
from threads.domain import formats
from threads.domain.message import Message
from threads.domain.transcript import Compaction, Event, Transcript

from .real_file_reasons import reason_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
BEGIN, END = "<!-- real files -->\n", "<!-- end of real files -->"
MIN_LENGTH = 40
"""The least length of a string that is looked up."""
SHOWN = 160
_LISTED = re.compile(r"\| (\S+/\S+) \| (.+?) \| `(\w{10})` \|")
_PLACE = re.compile(r"bytes:(\d+)-(\d+)")


class ListedFile(NamedTuple):
    """A file of a public repository."""

    repository: str
    path: str
    commit: str


class Leaf(NamedTuple):
    """A string of a file, with the path of members that lead to it."""

    member: str
    text: str


@dataclass(slots=True)
class FileCheck:
    """The result of checking a file."""

    listed: ListedFile
    format: str
    sessions: int
    messages: int
    leaves: int = 0
    in_messages: int = 0
    in_events: int = 0
    nowhere: list[Leaf] = field(default_factory=list)

    @property
    def lost(self) -> list[Leaf]:
        """Strings that occur nowhere, without a reason."""
        return [one for one in self.nowhere if not reason_of(self.format, one.member)]

    @property
    def reasons(self) -> str:
        """Why strings that occur nowhere aren't part of the conversation."""
        found = Counter(reason_of(self.format, one.member) for one in self.nowhere)
        return ", ".join(f"{count} {reason}" for reason, count in found.most_common())


def soak() -> Iterator[Row]:
    """How many strings are lost, if the files are available."""
    folder = os.environ.get("REAL_FILES")
    name = f"strings of {MIN_LENGTH} characters that real files lose"
    if not folder:
        yield Row(f"{name}: REAL_FILES names no folder", "", "", None)
        return
    looked = [check_file(one, Path(folder)) for one in listed()]
    lost = sum(len(one.lost) for one in looked)
    leaves = sum(one.leaves for one in looked)
    is_met = bool(leaves) and not lost
    yield Row(f"{name}, {len(looked)} files", f"{lost} of {leaves:,}", "0", is_met)


def listed() -> Iterator[ListedFile]:
    """The files that the page lists, each once."""
    table = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    yield from dict.fromkeys(ListedFile(*row) for row in _LISTED.findall(table))


def check_file(one: ListedFile, folder: Path) -> FileCheck:
    """Read a file, and look up all its strings."""
    shown = ["git", "-C", str(folder / one.repository), "show"]
    data = subprocess.run(  # git, with a name that the page lists
        [*shown, f"{one.commit}:{one.path}"], capture_output=True, check=True
    ).stdout
    name = one.path.rpartition("/")[2]
    transcripts = formats.read(io.BytesIO(data), "auto", name)
    items = [item for transcript in transcripts for item in transcript.items]
    found = FileCheck(
        one,
        transcripts[0].format,
        len(transcripts),
        sum(isinstance(item, Message) for item in items),
    )
    said = Texts(_message_texts(items, transcripts))
    noted = Texts(_event_texts(items, data))
    for leaf in _strings(data):
        found.leaves += 1
        if said.hold(leaf.text):
            found.in_messages += 1
        elif noted.hold(leaf.text):
            found.in_events += 1
        else:
            found.nowhere.append(leaf)
    return found


class Texts:
    """Texts in which others are looked up, ignoring whitespace."""

    def __init__(self, texts: Iterable[str]) -> None:
        flat = {_flat(text) for text in texts}
        self._whole = flat
        self._all = "\n".join(flat)

    def hold(self, text: str) -> bool:
        """Whether a text occurs, whole or line by line: a patch prefixes each line."""
        wanted = _flat(text)
        if not wanted or wanted in self._whole or wanted in self._all:
            return True
        lines = text.splitlines()
        return len(lines) > 1 and all(_flat(line) in self._all for line in lines)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _message_texts(
    items: Iterable[Any], transcripts: Iterable[Transcript]
) -> Iterator[str]:
    """Every string in messages, and the titles of conversations."""
    for transcript in transcripts:
        yield transcript.title
    for item in items:
        if not isinstance(item, Event):
            given = item.messages if isinstance(item, Compaction) else [item]
            for message in given:
                yield from _strings_in([message.parts, message.name, message.source_id])


def _strings_in(value: Any) -> Iterator[str]:
    """The strings in a value of the domain; for JSON text also the strings in it."""
    if isinstance(value, str):
        yield value
        yield from (leaf.text for leaf in _inner(value, ""))
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _strings_in([name, one])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings_in(one)
    elif is_dataclass(value):
        for one in fields(value):
            yield from _strings_in(getattr(value, one.name))


def _event_texts(items: Iterable[Any], data: bytes) -> Iterator[str]:
    """Every string in the records of events."""
    for item in items:
        record = item.record if isinstance(item, Event) else ""
        if place := _PLACE.match(record):
            piece = data[int(place[1]) : int(place[2])]
            yield piece.decode("utf-8", "replace")
            yield from (leaf.text for leaf in _strings(piece, least=1))


def _strings(data: bytes, least: int = MIN_LENGTH) -> Iterator[Leaf]:
    """The strings of a file: of JSON, of JSON Lines, or else its lines."""
    text = data.decode("utf-8-sig", "replace")
    values = _values(text)
    if values is None:
        # Without the marks that make a line of Markdown a heading or a quotation.
        lines = (line.strip().lstrip("#> ") for line in text.splitlines())
        yield from (Leaf(f"line: {line}", line) for line in lines if len(line) >= least)
        return
    for value in values:
        for leaf in _leaves(value, ""):
            inner = list(_inner(leaf.text, leaf.member))
            for one in inner or [leaf]:
                if len(one.text.strip()) >= least:
                    yield one


def _values(text: str) -> list[Any] | None:
    """A text decoded as JSON or as JSON Lines; None if it is neither."""
    try:
        return [json.loads(text)]
    except ValueError:
        pass
    values = []
    for line in text.splitlines():
        try:
            values.append(json.loads(line))
        except ValueError:
            if line.strip() and not values:
                return None
    return values


def _inner(text: str, member: str) -> Iterator[Leaf]:
    """The strings of a text that is itself a JSON object or list."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except ValueError:
            return
        yield from _leaves(value, member)


def _leaves(value: Any, member: str) -> Iterator[Leaf]:
    if isinstance(value, str):
        yield Leaf(member, value)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _leaves(one, f"{member}.{name}" if member else name)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one, f"{member}[]")


def _write(looked: Iterable[FileCheck]) -> None:
    """Rewrite the table on the page."""
    rows = [
        f"| {one.listed.repository} | {one.listed.path} | `{one.listed.commit}` "
        f"| `{one.format}` | {one.sessions:,} | {one.messages:,} | {one.leaves:,} "
        f"| {one.in_messages:,} | {one.in_events:,} | {one.reasons or '0'} |\n"
        for one in looked
    ]
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{''.join(rows)}{END}{rest.partition(END)[2]}")


def main(words: list[str]) -> None:
    """Print what each file loses."""
    folder = Path(os.environ["REAL_FILES"])
    wanted = [word for word in words if not word.startswith("-")]
    looked = []
    for one in listed():
        if wanted and not any(word in "/".join(one) for word in wanted):
            continue
        found = check_file(one, folder)
        looked.append(found)
        figures = f"{found.leaves} {found.in_messages} {found.in_events}"
        print(f"{found.format} {one.repository} {one.path}: {figures}", flush=True)
        for leaf in found.lost:
            print(f"    {leaf.member[:SHOWN]}: {leaf.text[:SHOWN]!r}")
    if "--write" in words:
        _write(looked)


if __name__ == "__main__":
    main(sys.argv[1:])
