"""What redactions mask: their text is read nowhere, in the thread or outside of it.

Replay masks what a message reads where it stands. Beside it are doors that show a message
without a thread around it (an original, an entry of the log), under other tags, or in words
that are no longer in force: for these a redaction masks as long as it is on, whatever its
condition says.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from operations.domain.tree.key import Key, made_key, made_place, original_index
from operations.domain.tree.span import (
    MASK,
    Span,
    SpanChange,
    covered,
    covered_pieces,
    matches,
    read_changed,
)
from threads.domain.part import JSON, Part
from threads.domain.text import text_of

from .operation import Edit, Redact, Replace, messages_of

Wordings = Callable[[int], Iterable[Edit]]
"""Gives all the words that an operation ever had."""
LEAST_CUT = 6
"""Characters of a masked text that are masked for themselves: where a title breaks off in it, and
where it consists of several pieces."""
_CUT = "…"
_MOST_OF_A_TITLE = 10_000
"""Characters of a text that a title is compared with, which has 300: a page compares fifty."""


class Masks:
    """The spans of redactions, by the message that they mask text of."""

    def __init__(
        self, redactions: Iterable[tuple[int, Edit]], wordings: Wordings
    ) -> None:
        """Those of the redactions among edits that are on, given with their numbers."""
        self._wordings = wordings
        self._mask_words: Callable[[str], str] = str
        self._spans: dict[Key, list[tuple[int, Span]]] = {}
        for number, edit in redactions:
            for span in edit.spans if isinstance(edit, Redact) else ():
                self._spans.setdefault(span.key, []).append((number, span))

    def tell(self, texts: Mapping[str, str]) -> None:
        """Say what is masked, and what is read in its place: originals are not read here.

        What replacements put into messages is masked by it.
        """
        self._mask_words = _masking(texts)

    def __bool__(self) -> bool:
        """Whether anything is masked."""
        return bool(self._spans)

    @property
    def indexes(self) -> list[int]:
        """The originals of which something may be masked."""
        found = map(original_index, self._spans)
        return sorted(index for index in found if index is not None)

    def on(self, key: Key, parts: Sequence[Part] = ()) -> list[SpanChange]:
        """What is masked of a message with these parts, by place, without overlaps.

        An original never changes, so that its spans are taken as they are and its parts are
        not looked at. A message that an operation made may have had other words: in these
        the text is masked wherever it is found.
        """
        found: list[SpanChange] = []
        for number, span in self._spans.get(key, ()):
            if made_place(key) is None or matches(parts, span):
                found.append(_change(number, span, span.part, span.start))
            else:
                found += self._found_again(number, span, parts)
        kept: list[SpanChange] = []
        for change in sorted(found):  # of those that overlap the first
            if not kept or not _overlap(kept[-1], change):
                kept.append(change)
        return kept

    def _found_again(
        self, number: int, span: Span, parts: Sequence[Part]
    ) -> Iterator[SpanChange]:
        """The text of a span in other words than those that it was recorded for."""
        text = self._text(span)
        for place, part in enumerate(parts if text else ()):
            words = text_of(part)
            start = words.find(text)
            while start >= 0:
                yield _change(number, span, place, start)
                start = words.find(text, start + len(text))

    def _text(self, span: Span) -> str:
        """The text that a span was recorded for, in whichever words it stood; or nothing."""
        return covered(self._said(span), span) or ""

    def _said(self, span: Span) -> tuple[Part, ...]:
        """The words of what an operation made that a span was recorded for; or nothing."""
        operation, k = made_place(span.key) or (0, None)
        for edit in self._wordings(operation):
            made = messages_of(edit)
            if k is not None and k < len(made) and matches(made[k].parts, span):
                return made[k].parts
        return ()

    def within(self, changes: Iterable[SpanChange]) -> Iterator[SpanChange]:
        """Changes with what is masked in the words that they put into a message."""
        return (one._replace(text=self._mask_words(one.text)) for one in changes)

    @property
    def keys(self) -> Iterable[Key]:
        """The messages in which something is masked."""
        return self._spans.keys()

    def texts(
        self,
        read: Callable[[Key], Sequence[Part]],
        keys: Iterable[Key] | None = None,
    ) -> dict[str, str]:
        """What is masked, in all messages or in these, and what is read in its place.

        `read` gives originals as recorded.
        """
        found: dict[str, str] = {}
        for key in self._spans if keys is None else keys:
            for _, span in self._spans.get(key, ()):
                parts = read(key) if made_place(key) is None else self._said(span)
                for text in (covered(parts, span) or "", *_telling(parts, span)):
                    if text:
                        found.setdefault(text, span.text or MASK)
        return found

    def read(self, key: Key, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """The parts of a message, masked."""
        changes = self.on(key, parts)
        return read_changed(parts, changes) if changes else parts

    def edit(self, number: int, edit: Edit) -> Edit:
        """The edit that entry `number` made or was amended to, its words masked."""
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
            replace(message, parts=self.read(made_key(number, k), message.parts))
            for k, message in enumerate(messages_of(edit))
        )
        return replace(edit, messages=messages)  # type: ignore[arg-type]  # it has some


def _telling(parts: Sequence[Part], span: Span) -> Iterator[str]:
    """What a span covers of each piece of a part, where that tells something by itself.

    Whoever quotes a call or a result quotes one of its strings, or each for itself.
    """
    for text in covered_pieces(parts, span):
        if len(text.strip()) >= LEAST_CUT:
            yield text


def mask_words(words: str, texts: Mapping[str, str]) -> str:
    """Words with masked texts replaced wherever they are found, the longest first."""
    return _masking(texts)(words)


def _masking(texts: Mapping[str, str]) -> Callable[[str], str]:
    if not texts:
        return str
    longest = sorted(texts, key=len, reverse=True)
    found = re.compile("|".join(map(re.escape, longest)))
    return partial(found.sub, lambda match: texts[match[0]])


def mask_json(value: JSON, texts: Mapping[str, str]) -> JSON:
    """A value of JSON with masked texts replaced in its strings; names of members stay.

    Strings that hold JSON themselves, as arguments of calls do in some forms, count as what
    they hold: a quote or a line break of a masked text is escaped in them.
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
    """Words with masked texts replaced in the JSON that they are, if they are any."""
    if "\\" not in words or not words.lstrip().startswith(("{", "[", '"')):
        return words
    try:
        held = json.loads(words)
        masked = mask_json(held, texts)
    except (ValueError, RecursionError):  # no JSON, or deeper than anybody nests it
        return words
    return words if masked == held else json.dumps(masked, ensure_ascii=False)


def mask_title(title: str, texts: Mapping[str, str]) -> str:
    """A title with masked texts replaced, and the beginning of one before its ellipsis."""
    for text in sorted(texts, key=len, reverse=True):
        line = " ".join(text[:_MOST_OF_A_TITLE].split())
        if not line:
            continue
        title = title.replace(line, texts[text])
        if not title.endswith(_CUT):
            continue
        kept = title.removesuffix(_CUT)
        sizes = range(min(len(line), len(kept)), LEAST_CUT - 1, -1)
        size = next((size for size in sizes if kept.endswith(line[:size])), 0)
        if size:
            title = kept[:-size] + texts[text] + _CUT
    return title


def _change(number: int, span: Span, part: int, start: int) -> SpanChange:
    end = start + span.end - span.start
    return SpanChange(part, start, end, span.text or MASK, number, True, span.saved)


def masked_over(
    changes: Iterable[SpanChange], masks: Sequence[SpanChange]
) -> list[SpanChange]:
    """Changes with masks over them: what would overlap a mask gives way to it."""
    kept = [
        change
        for change in changes
        if not change.redacted and not any(_overlap(change, mask) for mask in masks)
    ]
    return sorted([*kept, *masks])


def _overlap(one: SpanChange, other: SpanChange) -> bool:
    return one.part == other.part and one.start < other.end and other.start < one.end
