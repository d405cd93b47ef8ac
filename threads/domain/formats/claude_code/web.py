"""Sessions of Claude Code on the web, as its API returns them: `{"loglines": [...]}`.

A line is a message by the user or the model, or has another type. The lines of one answer have the
same id.

Source: github.com/simonw/claude-code-transcripts, `tests/sample_session.json`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.model_context import ModelContext
from threads.domain.formats.kit.row_format import RowFormat, event
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import Part
from threads.domain.transcript import Compaction

from . import record


@dataclass(slots=True)
class WebLines:
    """Makes messages from lines; the lines of one answer are joined."""

    _lines: list[record.MessageLine] = field(default_factory=list)
    _rows: list[Element] = field(default_factory=list)
    _context: ModelContext = field(default_factory=ModelContext)

    def take(self, row: Element) -> Iterator[Item]:
        """The items that a line completes. Raises Invalid if it is malformed."""
        for item in self._read(row):  # note each before making the next
            self._context.note(item)
            yield item

    def _read(self, row: Element) -> Iterator[Item]:
        given = record.spoken(fields.require(row.value, dict, "a line", ()))
        kind, _, _ = record.classify(given)
        is_said = isinstance(given.get("message"), dict)
        if is_said and kind == record.SUMMARY:
            yield from self.rest()
            parts = record.read(given)[0]
            yield self._summary(parts, row) or event(row, "type")
            return
        if not is_said or kind not in ("user", "assistant"):
            yield from self.rest()
            yield event(row, "type")
            return
        line = record.read(given)
        if (
            not self._lines
            or not line[1]
            or line[2] is None
            or line[2] != self._lines[-1][2]
        ):
            yield from self.rest()
        self._lines.append(line)
        self._rows.append(row)

    def _summary(self, parts: tuple[Part, ...], row: Element) -> Item | None:
        """A summary in place of all messages before it; a plain message if there are none."""
        message = Message(role=Role.USER, parts=parts, records=(row.record,))
        hidden = self._context.hide(len(self._context))
        if not parts or not hidden:
            return message if parts else None
        return Compaction(
            replaces=tuple(sorted(hidden)), messages=(message,), record=row.record
        )

    def rest(self) -> Iterator[Item]:
        """The message that is held."""
        if self._lines:
            parts, is_answer, id_, model, usage = record.joined(self._lines)
            first = self._rows[0]
            yield Message(
                role=Role.ASSISTANT if is_answer else Role.USER,
                parts=parts,
                model=model,
                source_id=id_,
                created_at=fields.moment(fields.mapping(first.value).get("timestamp")),
                usage=usage,
                records=tuple(row.record for row in self._rows),
            )
        self._lines, self._rows = [], []


def _score(sample: Sample) -> float:
    lines = fields.items(sample.object, "loglines")
    return 0.95 if any("message" in fields.mapping(line) for line in lines) else 0


FORMAT = RowFormat(
    name="claude_code_web",
    label="a session of Claude Code on the web",
    score=_score,
    reader=WebLines,
    lists=("loglines",),
    known=lambda first: {
        "title": fields.text(first[0] if first else {}, "title"),
        "external_id": fields.word(first[0] if first else {}, "id", limit=255),
    },
    strategy="anthropic",
).format
