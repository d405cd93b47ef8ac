"""What redactions mask: their text can be read nowhere, inside or outside the thread.

Replay masks what a message reads in the thread. Other doors show a message without a thread (an
original, an entry of the log), under other tags, or in words no longer in force: there a
redaction masks as long as it is on, whatever its condition.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from operations.domain.tree.key import Key, made_key, original_index, parse_made_key
from operations.domain.tree.span import (
    MASK,
    Span,
    SpanChange,
    apply_span_changes,
    covered_pieces,
    covered_text,
    span_matches,
)
from threads.domain.part import JSON, Part
from threads.domain.text import text_of

from .operation import Edit, Redact, Replace, messages_of

Wordings = Callable[[int], Iterable[Edit]]
"""Returns all versions of an operation."""
MIN_CUT = 6
"""The minimum length, in characters, of a fragment of a masked text that is masked by itself:
where a title breaks off in it, or where it consists of several pieces."""
_CUT = "…"
_MAX_TITLE_LENGTH = 10_000
"""How many characters of a text a title is compared with. A title has 300, and a page compares
fifty."""


class Masks:
    """The spans of redactions, by the key of the message they mask."""

    def __init__(
        self, redactions: Iterable[tuple[int, Edit]], wordings: Wordings
    ) -> None:
        """`redactions` are edits that are on, with their numbers; other kinds are ignored."""
        self._wordings = wordings
        self._mask_words: Callable[[str], str] = str
        self._spans: dict[Key, list[tuple[int, Span]]] = {}
        for number, edit in redactions:
            for span in edit.spans if isinstance(edit, Redact) else ():
                self._spans.setdefault(span.key, []).append((number, span))

    def set_texts(self, texts: Mapping[str, str]) -> None:
        """Set the masked texts and what is read in their place, since originals aren't read here.

        They are used to mask what replacements put into messages.
        """
        self._mask_words = _masking(texts)

    def __bool__(self) -> bool:
        """Whether anything is masked."""
        return bool(self._spans)

    @property
    def indexes(self) -> list[int]:
        """The indexes of originals that may be masked in part."""
        found = map(original_index, self._spans)
        return sorted(index for index in found if index is not None)

    def changes_on(self, key: Key, parts: Sequence[Part] = ()) -> list[SpanChange]:
        """The masks of a message with these parts, in order and without overlaps.

        An original never changes, so its spans are used as they are, without looking at the
        parts. A message that an operation made may have had other words: in these the text is
        masked wherever it is found.
        """
        found: list[SpanChange] = []
        for number, span in self._spans.get(key, ()):
            if parse_made_key(key) is None or span_matches(parts, span):
                found.append(_change(number, span, span.part, span.start))
            else:
                found += self._relocated(number, span, parts)
        kept: list[SpanChange] = []
        for change in sorted(found):  # the first of those that overlap
            if not kept or not _overlap(kept[-1], change):
                kept.append(change)
        return kept

    def _relocated(
        self, number: int, span: Span, parts: Sequence[Part]
    ) -> Iterator[SpanChange]:
        """Find the text of a span in words other than those it was recorded for."""
        text = self._text(span)
        for place, part in enumerate(parts if text else ()):
            words = text_of(part)
            start = words.find(text)
            while start >= 0:
                yield _change(number, span, place, start)
                start = words.find(text, start + len(text))

    def _text(self, span: Span) -> str:
        """The text that a span was recorded for; empty if it isn't found in any version."""
        return covered_text(self._original_parts(span), span) or ""

    def _original_parts(self, span: Span) -> tuple[Part, ...]:
        """The version of an operation's message that a span was recorded for; empty if none is."""
        operation, k = parse_made_key(span.key) or (0, None)
        for edit in self._wordings(operation):
            made = messages_of(edit)
            if k is not None and k < len(made) and span_matches(made[k].parts, span):
                return made[k].parts
        return ()

    def mask_changes(self, changes: Iterable[SpanChange]) -> Iterator[SpanChange]:
        """Mask the words that changes put into a message."""
        return (one._replace(text=self._mask_words(one.text)) for one in changes)

    @property
    def keys(self) -> Iterable[Key]:
        """The keys of messages in which something is masked."""
        return self._spans.keys()

    def texts(
        self,
        read: Callable[[Key], Sequence[Part]],
        keys: Iterable[Key] | None = None,
    ) -> dict[str, str]:
        """Map masked texts, in all messages or the given ones, to what is read in their place.

        `read` returns originals as recorded.
        """
        found: dict[str, str] = {}
        for key in self._spans if keys is None else keys:
            for _, span in self._spans.get(key, ()):
                parts = (
                    read(key)
                    if parse_made_key(key) is None
                    else self._original_parts(span)
                )
                for text in (
                    covered_text(parts, span) or "",
                    *_revealing_pieces(parts, span),
                ):
                    if text:
                        found.setdefault(text, span.text or MASK)
        return found

    def mask_parts(self, key: Key, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """The parts of a message, masked."""
        changes = self.changes_on(key, parts)
        return apply_span_changes(parts, changes) if changes else parts

    def mask_edit(self, number: int, edit: Edit) -> Edit:
        """The edit that entry `number` made or was amended to, with its words masked."""
        if not self._spans:
            return edit
        if isinstance(edit, Replace):
            spans = (
                replace(span, text=self._mask_words(span.text)) for span in edit.spans
            )
            return replace(edit, spans=tuple(spans))
        if not messages_of(edit):
            return edit
        messages = tuple(
            replace(message, parts=self.mask_parts(made_key(number, k), message.parts))
            for k, message in enumerate(messages_of(edit))
        )
        return replace(edit, messages=messages)  # type: ignore[arg-type]  # it has some


def _revealing_pieces(parts: Sequence[Part], span: Span) -> Iterator[str]:
    """The part of a span in each piece of a part, if it is long enough to reveal something.

    A quotation of a call or a result may contain just one of its strings, or each by itself.
    """
    for text in covered_pieces(parts, span):
        if len(text.strip()) >= MIN_CUT:
            yield text


def mask_words(words: str, texts: Mapping[str, str]) -> str:
    """Replace masked texts wherever they occur, the longest first."""
    return _masking(texts)(words)


def _masking(texts: Mapping[str, str]) -> Callable[[str], str]:
    if not texts:
        return str
    longest = sorted(texts, key=len, reverse=True)
    found = re.compile("|".join(map(re.escape, longest)))
    return partial(found.sub, lambda match: texts[match[0]])


def mask_json(value: JSON, texts: Mapping[str, str]) -> JSON:
    """Replace masked texts in the strings of a JSON value; member names stay.

    Strings that themselves hold JSON, such as the arguments of calls in some forms, are decoded
    first, because a quote or a line break of a masked text is escaped in them.
    """
    if not texts:
        return value
    if isinstance(value, str):
        return _mask_held(mask_words(value, texts), texts)
    if isinstance(value, list):
        return [mask_json(item, texts) for item in value]
    if isinstance(value, dict):
        return {name: mask_json(item, texts) for name, item in value.items()}
    return value


def _mask_held(words: str, texts: Mapping[str, str]) -> str:
    """Replace masked texts inside a string that is itself JSON; return other strings unchanged."""
    if "\\" not in words or not words.lstrip().startswith(("{", "[", '"')):
        return words
    try:
        held = json.loads(words)
        masked = mask_json(held, texts)
    except (ValueError, RecursionError):  # not JSON, or nested unreasonably deep
        return words
    return words if masked == held else json.dumps(masked, ensure_ascii=False)


def mask_title(title: str, texts: Mapping[str, str]) -> str:
    """Replace masked texts in a title, and the beginning of one that breaks off at its ellipsis."""
    for text in sorted(texts, key=len, reverse=True):
        line = " ".join(text[:_MAX_TITLE_LENGTH].split())
        if not line:
            continue
        title = title.replace(line, texts[text])
        if not title.endswith(_CUT):
            continue
        kept = title.removesuffix(_CUT)
        sizes = range(min(len(line), len(kept)), MIN_CUT - 1, -1)
        size = next((size for size in sizes if kept.endswith(line[:size])), 0)
        if size:
            title = kept[:-size] + texts[text] + _CUT
    return title


def _change(number: int, span: Span, part: int, start: int) -> SpanChange:
    end = start + span.end - span.start
    return SpanChange(part, start, end, span.text or MASK, number, True, span.saved)


def merge_masks(
    changes: Iterable[SpanChange], masks: Sequence[SpanChange]
) -> list[SpanChange]:
    """Changes combined with masks; a change that overlaps a mask is dropped."""
    kept = [
        change
        for change in changes
        if not change.redacted and not any(_overlap(change, mask) for mask in masks)
    ]
    return sorted([*kept, *masks])


def _overlap(one: SpanChange, other: SpanChange) -> bool:
    return one.part == other.part and one.start < other.end and other.start < one.end
