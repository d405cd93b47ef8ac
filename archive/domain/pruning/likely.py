"""Names of what a plan leaves out that are likely to be needed, before anybody can know.

What the assistant itself has named there is named again one time in four. Of results it is one time
in twenty for identifiers, file names and paths that several of them name, hardly ever for numbers
and hashes.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import chain

from archive.domain.hindsight.references import Reference, References, ReferenceType
from archive.domain.hindsight.sightings import Sightings
from operations.domain.tree.key import Key

from .reading import PlanReading

_NAMES = (ReferenceType.IDENTIFIER, ReferenceType.FILE)


def likely_later(read: PlanReading, most: int) -> Mapping[Key, list[str]]:
    """By message that a plan makes shorter, names that stood nowhere else then.

    Each is given where it stood last: all that the assistant used, and `most` others.
    """
    references = References(read.references)
    shorter = sorted(place for place, shows in read.shown.items() if shows)
    named = {place: references.of(read.texts[place]) for place in shorter}
    times = Counter(chain.from_iterable(named.values()))
    last = {one: place for place, names in named.items() for one in names}
    used = {
        place: named[place]
        if read.uses[place] is read.texts[place]
        else references.of(read.uses[place])
        for place in shorter
    }
    worth = {
        one
        for one, place in last.items()
        if one in used[place] or _is_likely(one, times[one])
    }
    in_sight = (read.shown.get(place, texts) for place, texts in enumerate(read.texts))
    stands = Sightings(worth).in_any(in_sight)
    found: dict[Key, list[str]] = defaultdict(list)
    for place, names in named.items():
        others = 0
        for one, words in names.items():
            if last[one] != place or one not in worth or one in stands:
                continue
            if one not in used[place]:
                if others == most:
                    continue
                others += 1
            found[read.messages[place].key].append(words)
    return found


def _is_likely(one: Reference, times: int) -> bool:
    return one.kind in _NAMES or (times > 1 and one.kind is ReferenceType.PATH)
