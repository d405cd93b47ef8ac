"""Names of what a plan leaves out that are likely to be needed, before anybody can know.

What the assistant itself has named there is named again one time in four. Of results it is one time
in twenty for identifiers, file names and paths that several of them name, hardly ever for numbers
and hashes.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from archive.domain.hindsight.references import Reference, References, ReferenceType
from archive.domain.hindsight.sightings import Sightings
from archive.domain.hindsight.texts import texts_of, uses_of
from operations.domain.log.operation import messages_of
from operations.domain.tree.key import Key

from .classes import Prunable
from .plan import PrunePlan

_NAMES = (ReferenceType.IDENTIFIER, ReferenceType.FILE)


def likely_later(
    messages: Sequence[Prunable], plan: PrunePlan, most: int
) -> Mapping[Key, list[str]]:
    """By message that a plan makes shorter, names that stood nowhere else then.

    Each is given where it stood last: all that the assistant used, and `most` others.
    """
    shown = _shown_by(messages, plan)
    texts = {
        place: texts_of(messages[place].parts) for place, left in shown.items() if left
    }
    references = References()
    named = {place: references.of(texts[place]) for place in sorted(texts)}
    times = Counter(one for names in named.values() for one in names)
    stands = Sightings(times).in_texts(_in_sight(messages, shown))
    last = {one: place for place, names in named.items() for one in names}
    found: dict[Key, list[str]] = defaultdict(list)
    for place, names in named.items():
        message, others = messages[place], 0
        used = references.of(uses_of(message.role, message.parts))
        for one, words in names.items():
            if one in stands or last[one] != place:
                continue
            if one not in used:
                if others == most or not _is_likely(one, times[one]):
                    continue
                others += 1
            found[message.key].append(words)
    return found


def _is_likely(one: Reference, times: int) -> bool:
    return one.kind in _NAMES or (times > 1 and one.kind is ReferenceType.PATH)


def _shown_by(messages: Sequence[Prunable], plan: PrunePlan) -> dict[int, list[str]]:
    """By place of a message that a plan changes the texts that it shows then, if any."""
    return {
        place: [text for new in messages_of(step.edit) for text in texts_of(new.parts)]
        for step in plan.steps
        for place in step.places
    }


def _in_sight(
    messages: Sequence[Prunable], shown: Mapping[int, list[str]]
) -> Iterator[str]:
    """All texts of the thread as a plan leaves it."""
    for place, message in enumerate(messages):
        yield from shown[place] if place in shown else texts_of(message.parts)
