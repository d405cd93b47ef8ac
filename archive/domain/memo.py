"""Finds the memos relevant to the last question, by the words and tags they share with it."""

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
"""Stop words: they say nothing about the subject of a message."""
_COMMON = frozenset(_COMMON_WORDS.split())
MAX_NAMED = 5
"""How many shared words `Match.why` lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadableMemo:
    """A memo as a reader may see it."""

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
    """The words of a text that may tell its subject, in lower case and without stop words."""
    return frozenset(_WORD.findall(text.casefold())) - _COMMON


@dataclass(frozen=True, slots=True)
class Match:
    """A relevant memo, with the words and tags it shares with the question."""

    note: ReadableMemo
    words: tuple[str, ...]

    @property
    def why(self) -> str:
        """Why it is sent, as a sentence."""
        named = ", ".join(f'"{word}"' for word in self.words[:MAX_NAMED])
        more = len(self.words) - MAX_NAMED
        if more > 0:
            named += f" and {more} more"
        return f"Shares {named} with the last question."


def relevant(
    notes: Iterable[ReadableMemo], words: Collection[str], most: int
) -> list[Match]:
    """The memos that contain any of these words, best match first, then newest first."""
    newest = sorted(notes, key=lambda note: note.created_at, reverse=True)

    def words_of(note: ReadableMemo) -> frozenset[str]:
        return keywords(f"{note.content} {' '.join(note.tags)}".replace("-", " "))

    return _best(newest, frozenset(words), words_of)[:most]


def tagged(notes: Iterable[ReadableMemo], tags: Sequence[str]) -> list[ReadableMemo]:
    """The memos with any of these tags, best match first, otherwise in the given order."""
    wanted = frozenset(map(str.casefold, tags))
    found = _best(notes, wanted, lambda note: frozenset(map(str.casefold, note.tags)))
    return [match.note for match in found]


def _best(
    notes: Iterable[ReadableMemo],
    wanted: frozenset[str],
    held: Callable[[ReadableMemo], frozenset[str]],
) -> list[Match]:
    """The memos that hold any of the wanted words, those with the most first."""
    found = [Match(note, tuple(sorted(wanted & held(note)))) for note in notes]
    found = [match for match in found if match.words]
    found.sort(key=lambda match: -len(match.words))
    return found


def layer_text(notes: Sequence[ReadableMemo]) -> str:
    """Memos as the model reads them; an empty string if there are none."""
    if not notes:
        return ""
    lines = ["## Memos"]
    for note in notes:
        tags = f" [{', '.join(note.tags)}]" if note.tags else ""
        lines.append(f"- {note.content.strip()}{tags}")
    return "\n\n".join([lines[0], "\n".join(lines[1:])])
