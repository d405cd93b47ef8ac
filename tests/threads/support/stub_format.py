"""A format made up for tests of the import: JSON Lines that define a parser's output.

`{"say": text, "role"?, "id"?}` is a message, `{"event": type}` an event, `{"compact": [ordinals],
"into": [texts]}` a compaction, `{"fault": 1}` a fault of the parser. The first line is a head:
`{"stub": id | null, "title"?, "parent"?: {…}}`. A file `<name>.part` belongs to `<name>`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import source
from threads.domain.formats.io.folder import Folder, Gathered
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import Image, Text
from threads.domain.transcript import (
    Compaction,
    Event,
    Parent,
    Relation,
    Transcript,
    Warning,
)

NAME = "stub"


def stub(*lines: dict[str, Any], id: str | None = None, **head: Any) -> bytes:
    """A file of the format."""
    rows = [{"stub": id, **head}, *lines]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def says(*texts: str) -> list[dict[str, Any]]:
    """Messages, each with an id of its own."""
    roles = ("user", "assistant")
    return [
        {"say": text, "role": roles[i % 2], "id": f"s{i}"}
        for i, text in enumerate(texts)
    ]


@dataclass(frozen=True, slots=True)
class Items:
    file: BinaryIO
    warnings: list[Warning]
    other: str = ""

    def __iter__(self) -> Iterator[Any]:
        self.warnings.clear()
        for line, row in source.records(self.file, self.warnings):
            record = line.span.record
            match row:
                case {"say": _}:
                    yield self._message(row, record)
                case {"event": type_}:
                    yield Event(type_, record)
                case {"compact": replaces, "into": texts}:
                    yield Compaction(
                        replaces=tuple(replaces),
                        messages=tuple(
                            Message(role=Role.USER, parts=(Text(text),))
                            for text in texts
                        ),
                        record=record,
                    )
                case {"fault": _}:
                    raise KeyError("a fault of the parser")

    def _message(self, row: dict[str, Any], record: str) -> Message:
        pieces = row["say"] if isinstance(row["say"], list) else [row["say"]]
        parts: list[Any] = [Text(piece) for piece in pieces]
        if "image" in row:
            parts.append(Image("image/png", data=row["image"].encode()))
        return Message(
            role=Role(row.get("role", "user")),
            parts=tuple(parts),
            name=row.get("name"),
            source_id=row.get("id"),
            usage=Usage(**row["usage"]) if "usage" in row else None,
            records=(record, self.other) if self.other else (record,),
        )


def read(
    file: BinaryIO, name: str, *, member: str = "", other: str = ""
) -> list[Transcript]:
    file.seek(0)
    head = json.loads(file.readline())
    parent = head.get("parent")
    items = Items(file, [], other)
    return [
        Transcript(
            format=NAME,
            title=head.get("title", ""),
            items=items,
            external_id=head["stub"],
            member=member,
            parent=Parent(**{**parent, "relation": Relation(parent["relation"])})
            if parent
            else None,
            warnings=items.warnings,
        )
    ]


def gather(folder: Folder) -> list[Gathered]:
    found = []
    for part in folder.named(".part"):
        main = folder.members.get(part.name.removesuffix(".part"))
        if main is None:
            continue
        other = f"{part.name}#bytes:0-{part.size}"
        transcripts = read(main.open(), main.name, member=main.name, other=other)
        found.append(Gathered(transcripts, frozenset({main.name, part.name})))
    return found


def score(sample: Sample) -> float:
    return 1.0 if any("stub" in row for row in sample.records[:1]) else 0.0


FORMAT = Format(NAME, "a transcript made up for tests", score, read, gather=gather)
