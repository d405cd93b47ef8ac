"""Which memos matter for what was just said: by the words and tags that both have."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

_WORD = re.compile(r"\w{3,}")
_COMMON_WORDS = (
    "about after again all also and any are because been before but can could did does doing"
    " done for from get give had has have her here him his how into its just know let like"
    " look make many may more most must next not now off one only other our out over please"
    " same say see she should some still sure than thank thanks that the their them then"
    " there these they thing this those through time too two use used using very want was"
    " way well were what when where which while who why will with would yes yet you your"
    " continue okay"
)
"""Words that say nothing of what a message is about."""
_COMMON = frozenset(_COMMON_WORDS.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadableMemo:
    """A memo as it may be read."""

    id: str
    content: str
    tags: tuple[str, ...]
    project: str
    session_id: str | None
    actor: str
    actor_name: str
    created_at: datetime
    changed_at: datetime | None = None


def keywords(text: str) -> frozenset[str]:
    """The words of a text that it may be about, ignoring case."""
    return frozenset(_WORD.findall(text.casefold())) - _COMMON


def relevant(
    notes: Iterable[ReadableMemo], words: Collection[str], most: int
) -> list[ReadableMemo]:
    """The memos that have any of these words, those with more of them first, then newer ones."""
    newest = sorted(notes, key=lambda note: note.created_at, reverse=True)

    def words_of(note: ReadableMemo) -> frozenset[str]:
        return keywords(f"{note.content} {' '.join(note.tags)}".replace("-", " "))

    return _best(newest, frozenset(words), words_of)[:most]


def tagged(notes: Iterable[ReadableMemo], tags: Sequence[str]) -> list[ReadableMemo]:
    """The memos with any of these tags, those with more of them first, else as they came."""
    wanted = frozenset(map(str.casefold, tags))
    return _best(notes, wanted, lambda note: frozenset(map(str.casefold, note.tags)))


def _best(
    notes: Iterable[ReadableMemo],
    wanted: frozenset[str],
    held: Callable[[ReadableMemo], frozenset[str]],
) -> list[ReadableMemo]:
    """The memos that hold any of what is wanted, those with more of it first."""
    scored = [(len(wanted & held(note)), note) for note in notes]
    found = [(score, note) for score, note in scored if score]
    found.sort(key=lambda pair: -pair[0])
    return [note for _, note in found]


def layer_text(notes: Sequence[ReadableMemo]) -> str:
    """Memos as the model reads them; nothing where there are none."""
    if not notes:
        return ""
    lines = ["## Memos"]
    for note in notes:
        tags = f" [{', '.join(note.tags)}]" if note.tags else ""
        lines.append(f"- {note.content.strip()}{tags}")
    return "\n\n".join([lines[0], "\n".join(lines[1:])])
