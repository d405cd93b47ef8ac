"""Transcripts in and out: a detector by content, and a parser and a writer per format.

`detect` says what a file may be, `read` returns its conversations, and `write` makes a file from
messages. A family of formats is a package that exports `FORMATS`, the formats it reads, and
`WRITERS`, the formats it writes. A new format is added to the list of its family.
"""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid, unknown_name
from threads.domain.message import Message
from threads.domain.transcript import Compaction, Event, Transcript, Warning

from . import (
    agents,
    ai_sdk,
    anthropic,
    atif,
    benchmarks,
    claude_code,
    codex,
    contextstudio,
    copilot_chat,
    datasets,
    documents,
    editors,
    emptiness,
    exports,
    foreign,
    frameworks,
    gemini,
    openai,
    opencode,
    openhands,
    summaries,
    terminals,
    traces,
    traffic,
)
from .format import Candidate, Format, Heading, Writer
from .io import json_file, json_text, long_text
from .io.rows import listed, packed, spread, table
from .io.skimming import skim_file
from .kit import spoken
from .requests import RequestForm, RequestReader
from .sample import HEAD, Sample
from .unknown import refusal_of

_READ_FAMILIES = (
    contextstudio,
    claude_code,
    codex,
    ai_sdk,
    anthropic,
    openai,
    gemini,
    opencode,
    atif,
    exports,
    agents,
    terminals,
    editors,
    copilot_chat,
    openhands,
    frameworks,
    benchmarks,
    datasets,
    traces,
    traffic,
    foreign,
    documents,
)
"""Families that are read. Of formats with equal scores, the one from the earliest family wins."""
_WRITTEN_FAMILIES = (
    contextstudio,
    openai,
    anthropic,
    gemini,
    atif,
    codex,
    claude_code,
    documents,
)
"""Families that are written, in the order in which they are offered."""

ALL_FORMATS: tuple[Format, ...] = tuple(
    sorted(
        chain.from_iterable(family.FORMATS for family in _READ_FAMILIES),
        key=lambda format_: format_.is_general,
    )
)
WRITERS: dict[str, Writer] = dict(
    chain.from_iterable(family.WRITERS.items() for family in _WRITTEN_FAMILIES)
)
REQUESTS: dict[str, RequestForm] = (
    openai.REQUESTS | anthropic.REQUESTS | gemini.REQUESTS
)
"""The forms of requests that are rewritten."""
READERS: dict[str, RequestReader] = openai.READERS | anthropic.READERS | gemini.READERS
"""The readers of their messages, by the same names."""

CERTAIN = 0.95
"""A score that only our own format surpasses, which is first in `ALL_FORMATS`: the search stops
at it."""
SURE = 0.9
"""A score that published lists of messages don't reach: they may be of any program."""
ANOTHER_DOCUMENT = "another_document"
"""The code of the warning, or refusal, for a file with one document after another."""


def detect(head: bytes, name: str | None = None) -> list[Candidate]:
    """What a file may be, judged by its first bytes (64 KiB are enough), the likeliest first.

    The name only decides between formats that the content leaves open. Never raises.
    """
    sample = Sample(head, name or "")
    scored = ((format_.score(sample), format_) for format_ in ALL_FORMATS)
    found = [Candidate(form.name, score, form.label) for score, form in scored if score]
    best: dict[str, Candidate] = {}
    for candidate in sorted(found, key=lambda candidate: -candidate.score):
        best.setdefault(candidate.format, candidate)
    return list(best.values())


def is_table(head: bytes) -> bool:
    """Whether a file is read row by row as a table (`io.rows.table`), judged by its first bytes.

    True if no format recognises the file itself and one is sure of the rows.
    """
    rows = table.first_lines(head)
    if not rows or _best_match(Sample(head))[0] > spoken.UNSURE:
        return False
    score, found = _best_match(Sample(rows))
    return score > spoken.UNSURE and found is not None and found.read is not None


def is_pretty_printed(file: BinaryIO, head: bytes) -> bool:
    """Whether a file that begins with `head` is read by its records (`io.rows.spread`).

    True if a format is surer of the records than any format is of the head as one document, or if
    the best format is the same for both.
    """
    rows = spread.first_lines(file, head)
    score, found = _best_match(Sample(rows))
    if found is None or found.read is None:
        return False
    score_alone, alone = _best_match(Sample(head))
    return score > score_alone or (alone is not None and found.name == alone.name)


def is_list_of_records(head: bytes) -> bool:
    """Whether a file is a list of what a format has on lines, judged by its first bytes.

    True if a format is sure of the elements as lines (`io.rows.listed`), and surer than any is of
    the list.
    """
    rows = listed.first_lines(head)
    if not rows or (score := _best_match(Sample(rows))[0]) < SURE:
        return False
    return score > _best_match(Sample(head))[0]


def is_packed(head: bytes) -> bool:
    """Whether a file's rows are read as objects (`io.rows.packed`), judged by its first bytes."""
    return packed.may_be_packed(head) and packed.are_packed(Sample(head).rows)


def read(
    source: BinaryIO, format: str = "auto", name: str | None = None
) -> list[Transcript]:
    """The conversations of a seekable file, which must stay open while they are read.

    Raises Invalid with a sentence that says what the file is: `format_unknown`,
    `format_unsupported` (known, but not read yet), `no_messages`, or what stopped the reading
    (`json_too_deep`, `line_too_long`, `json_truncated`, …).
    """
    chosen = _likeliest(source, name or "") if format == "auto" else _by_name(format)
    if chosen.read is None:
        hint = chosen.hint or "ContextStudio can't read it yet."
        raise Invalid(f"This is {chosen.label}. {hint}", code="format_unsupported")
    try:
        read_ = chosen.read(source, name or "")
    except Invalid as error:
        if (behind := json_file.second_document(source)) is None:
            raise
        raise Invalid(
            _another_document_sentence(behind), code=ANOTHER_DOCUMENT
        ) from error
    transcripts = [
        emptiness.with_content_checked(transcript, source) for transcript in read_
    ]
    if chosen not in contextstudio.FORMATS:  # whose messages are as they were stored
        transcripts = [*map(summaries.with_summaries_by_user, transcripts)]
    if len(transcripts) > 1 and json_file.are_lists(json_file.first_lines(source)):
        return transcripts
    # The warning is given once: by the first transcript, whose items are read first.
    return [
        replace(one, items=_UnreadTextWarner(one, source)) if not at else one
        for at, one in enumerate(transcripts)
    ]


class _UnreadTextWarner:
    """A transcript's items; after the last, it warns about text that remains only in the file."""

    def __init__(self, transcript: Transcript, source: BinaryIO) -> None:
        self._transcript, self._source = transcript, source

    def __iter__(self) -> Iterator[Message | Event | Compaction]:
        yield from self._transcript.items
        warnings = self._transcript.warnings
        warnings += [
            one for one in _unread_text_warnings(self._source) if one not in warnings
        ]


def _unread_text_warnings(source: BinaryIO) -> Iterator[Warning]:
    for start, size in sorted(long_text.cuts(source).items()):
        words = (
            f"At byte {start:,} a text is too long for a message, which holds its "
            f"beginning; the other {size:,} bytes are in the imported file."
        )
        yield Warning("text_in_file", words)
    if (behind := json_file.second_document(source)) is not None:
        yield Warning(ANOTHER_DOCUMENT, _another_document_sentence(behind))


def _another_document_sentence(behind: int) -> str:
    return (
        f"At byte {behind:,} another document begins, which is not read: import each as a"
        " file of its own, or one per line."
    )


def write(
    format: str, messages: Iterable[Message], heading: Heading | None = None
) -> Iterator[bytes]:
    """Messages as a file in one of the formats of `WRITERS`, in pieces.

    `contextstudio` loses only the places in the source; `openai` and `anthropic` are request
    bodies, without what these can't express; `markdown` is for people. Raises Invalid
    immediately for any other format.
    """
    writer = WRITERS.get(format)
    if writer is None:
        known = ", ".join(WRITERS)
        raise Invalid(f"A session can be exported as one of {known}.", at=("format",))
    return writer.write(messages, heading or Heading())


def file_name(format: str, export_id: uuid.UUID) -> str | None:
    """The name that a file needs for its tool to find it; None if any name will do."""
    writer = WRITERS.get(format)
    if writer is None or writer.file_name is None:
        return None
    return writer.file_name(Heading(export_id=export_id))


def _likeliest(source: BinaryIO, name: str) -> Format:
    """The likeliest format of a file. Raises Invalid that says what the file looks like.

    If its first bytes match no format, or leave it open, the rest of the file is skimmed.
    """
    source.seek(0)
    head = source.read(HEAD)
    sample = Sample(head, name)
    score, found = _best_match(sample)
    if score <= spoken.UNSURE and not sample.shows_all and (skim := skim_file(source)):
        later, better = _best_match(Sample(skim, name))
        found = better if later > score else found
    if found is not None:
        return found
    if json_text.is_deep(head):
        raise json_text.too_deep()
    raise refusal_of(head)


def _best_match(sample: Sample) -> tuple[float, Format | None]:
    best = 0.0
    likeliest: Format | None = None
    for known in ALL_FORMATS:
        score = known.score(sample)
        if score > best:
            best, likeliest = score, known
        if best >= CERTAIN:  # so the rest need not be asked
            break
    return best, likeliest


def _by_name(name: str) -> Format:
    """The first format of this name."""
    for known in ALL_FORMATS:
        if known.name == name:
            return known
    words = unknown_name(
        "format", name, dict.fromkeys(known.name for known in ALL_FORMATS)
    )
    raise Invalid(words, at=("format",), code="format_unknown")
