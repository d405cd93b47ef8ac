"""Predicts which names in what a plan leaves out are likely to be needed later.

A name that the assistant itself used there is used again one time in four. In results it is one
time in twenty for identifiers, file names, and paths that several of them name, and hardly ever for
numbers and hashes.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import chain

from archive.domain.hindsight.references import Reference, ReferenceType
from archive.domain.hindsight.sightings import Sightings
from operations.domain.tree.key import Key

from .reading import PlanReading

_NAMES = (ReferenceType.IDENTIFIER, ReferenceType.FILE)


class LikelyNames:
    """Names in the messages that a plan condenses that are likely to be needed.

    Each name belongs to the last of these messages that contains it.
    """

    def __init__(self, read: PlanReading) -> None:
        shorter = sorted(place for place, shows in read.shown.items() if shows)
        self._read = read
        self._named = {
            place: read.references.of(read.texts[place]) for place in shorter
        }
        times = Counter(chain.from_iterable(self._named.values()))
        self._last = {
            one: place for place, names in self._named.items() for one in names
        }
        self.worth = {
            one
            for one, place in self._last.items()
            if one in read.used.get(place, ()) or _is_likely(one, times[one])
        }
        """All names that the assistant used there, and the others that are likely."""

    def later(self, sightings: Sightings, most: int) -> Mapping[Key, list[str]]:
        """Map of message key to its likely names that would occur nowhere else after the run.

        It lists all names that the assistant used, and at most `most` others per message.
        `sightings` must find all of `worth`.
        """
        read, worth, last = self._read, self.worth, self._last
        in_sight = (
            read.shown.get(place, texts) for place, texts in enumerate(read.texts)
        )
        stands = sightings.in_any(in_sight)
        found: dict[Key, list[str]] = defaultdict(list)
        for place, names in self._named.items():
            used, others = read.used.get(place, ()), 0
            for one, words in names.items():
                if last[one] != place or one not in worth or one in stands:
                    continue
                if one not in used:
                    if others == most:
                        continue
                    others += 1
                found[read.messages[place].key].append(words)
        return found


def _is_likely(one: Reference, times: int) -> bool:
    return one.kind in _NAMES or (times > 1 and one.kind is ReferenceType.PATH)
