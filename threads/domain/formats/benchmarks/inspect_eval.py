"""Logs of Inspect, the evaluation framework: each sample of a run is a conversation.

A log is one JSON document (`.json`), or a zip archive (`.eval`), which arrives here unpacked as a
folder: `header.json` once the run has ended, `_journal/start.json` from its start, and one file per
sample in `samples/`. Long texts of a sample are in its `attachments`, by hash.

Source: inspect_ai `log/_log.py`, `log/_recorders/eval.py` (0.3).
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.kit.items import Opener, already_open, items_in
from threads.domain.formats.kit.transcripts import (
    require_transcripts,
    with_skipped_warnings,
)
from threads.domain.formats.sample import Sample
from threads.domain.part import JSON
from threads.domain.transcript import Transcript, Warning

from . import inspect_sample
from .inspect_sample import LogRun, Members

NAME = "inspect"
LABEL = "an Inspect log (JSON)"
HEADS = ("header.json", "_journal/start.json")
OWN = re.compile(
    r"header\.json|_journal/.*|samples/.*\.json|(summaries|reductions)\.json"
)


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The samples of a `.json` log, or a single sample."""
    skipped: list[Warning] = []
    members = json_file.members(file, 0, skipped)
    opener = already_open(file)
    run, starts = LogRun(), [0]
    if "eval" in members:
        run = _run(file, members, "")
        samples = inspect_sample.elements(file, members.get("samples"), skipped)
        starts = [child.span.start for child in samples]
    found = [_sample(file, start, opener, run, skipped) for start in starts]
    return with_skipped_warnings(require_transcripts(found, skipped, LABEL), skipped)


def gather(folder: Folder) -> list[Gathered]:
    """The logs of a folder, their samples in the order of their names."""
    found = []
    for root in dict.fromkeys(_roots(folder)):
        own = {
            name.removeprefix(root): member
            for name, member in folder.members.items()
            if name.startswith(root) and OWN.fullmatch(name.removeprefix(root))
        }
        if transcripts := list(_samples(own)):
            names = frozenset(member.name for member in own.values())
            found.append(Gathered(transcripts, names))
    return found


def _roots(folder: Folder) -> Iterator[str]:
    """The root path of each log in a folder."""
    for name, member in folder.members.items():
        for head in HEADS:
            root = name.removesuffix(head)
            if root == name or (root and not root.endswith("/")):
                continue
            with member.open() as file:
                if {"version", "eval"} <= json_file.members(file, 0, []).keys():
                    yield root


def _samples(own: dict[str, Member]) -> Iterator[Transcript]:
    head = next(own[name] for name in HEADS if name in own)
    with head.open() as file:
        run = _run(file, json_file.members(file, 0, []), head.name)
    for name in sorted((n for n in own if n.startswith("samples/")), key=_natural):
        member = own[name]
        with member.open() as file:
            found = _sample(file, 0, member.open, run, [])
        if found is not None:
            yield replace(found, member=member.name)


def _natural(name: str) -> list[tuple[int, str]]:
    """A sort key that puts 10 after 9."""
    return [
        (int(word[:18]), "") if word.isdecimal() else (0, word)
        for word in re.split(r"([0-9]+)", name)
    ]


def _run(file: BinaryIO, members: Members, name: str) -> LogRun:
    said = fields.mapping(json_file.get(file, members, "eval"))
    span = members["eval"]
    status = json_file.get(file, members, "status")
    return LogRun(
        id=fields.word(said, "eval_id", "run_id"),
        task=fields.text(said, "task"),
        model=fields.word(said, "model"),
        status=status if status and isinstance(status, str) else "started",
        record=f"{name}#{span.record}" if name else span.record,
    )


def _sample(
    file: BinaryIO, start: int, opener: Opener, run: LogRun, skipped: list[Warning]
) -> Transcript | None:
    """The conversation of the sample at `start`; None if it holds no message."""
    members = json_file.members(file, start, skipped)
    if next(inspect_sample.messages(file, members, skipped), None) is None:
        return None
    said = {
        name: json_file.get(file, members, name) for name in ("id", "epoch", "uuid")
    }
    id_, epoch, uuid = (
        _spelled(said["id"]),
        _spelled(said["epoch"]),
        fields.text(said, "uuid"),
    )
    items = items_in(opener, partial(inspect_sample.read, members, run))
    called = fields.one_line(f"{run.task or 'sample'} {id_}")
    external_id = uuid or f"{run.id}/{id_}/{epoch}"
    return Transcript(
        format=NAME,
        title=f"{called}, epoch {epoch}",
        items=items,
        external_id=external_id[:255] if uuid or run.id else None,
        model=run.model,
        warnings=items.warnings,
    )


def _spelled(value: JSON) -> str:
    return str(value) if isinstance(value, str | int) else "?"


def _score(sample: Sample) -> float:
    """A log by its head, a sample by the members around its messages."""
    keys = sample.object.keys()
    if {"version", "eval"} <= keys and "status" in keys:
        return 0.95
    return 0.95 if {"id", "epoch", "input", "target"} <= keys else 0


FORMAT = Format(NAME, LABEL, _score, read, gather=gather)
