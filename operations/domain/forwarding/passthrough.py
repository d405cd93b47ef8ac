"""Keeps the client's own messages in a compiled request wherever nothing changes them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Generic, NamedTuple, TypeVar

from operations.domain.providers.request import (
    PROMPT,
    Compiled,
    Layer,
    Outgoing,
    Severity,
)
from operations.domain.providers.stubs import Stubs, stubs_of
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from threads.domain.part import ToolResult

from .alignment import Unit

Form = dict[str, Any]
Own = TypeVar("Own")
"""Stands for one of the client's messages: the message itself, or its place."""


class _Run(NamedTuple):
    """A range of compiled messages, and the keys of the messages they are made from."""

    start: int
    end: int
    keys: tuple[Key, ...]
    """In the order in which they are sent."""


class PassedRequest(NamedTuple, Generic[Own]):
    """The messages that go out."""

    messages: list[Form | Own]
    given: frozenset[Key]
    """The messages that are sent exactly as the client gave them."""
    origins: list[Sequence[Key]]
    """For each of `messages`, the keys of its sources; empty for what a rule added."""
    system: Any = None
    """The prompt, if it has a member of its own; None if there is none."""


def with_client_messages(
    compiled: Compiled,
    layers: Sequence[Layer],
    messages: Sequence[Outgoing],
    thread: Thread,
    units: Sequence[Unit],
    given: Sequence[Own | None],
    system: Any,
    *,
    renames: bool = False,
    takes_system: bool = False,
    bound_call: Callable[[Own], str] = lambda own: "",
) -> PassedRequest[Own]:
    """A compiled request with the client's own messages wherever nothing changes them.

    `layers` and `messages` are what was compiled; `given` and `system` are the client's request,
    aligned with the originals by `units`. A message that a provider's rule repairs because of its
    own content (`Issue.is_own`) passes too, since its client sends it that way. `renames`: other
    messages of the request were given other ids of calls. `takes_system`: the provider accepts
    system messages among the others, although it has a member for the prompt. `bound_call`: see
    `RequestReader`.
    """
    prompt = next((layer for layer in layers if layer.name == PROMPT), None)
    is_prompt = prompt is not None and len(layers) == 1
    origins: list[Sequence[Key]] = list(compiled.origins)
    if prompt and is_prompt and compiled.system is None and compiled.prompt:
        origins[0] = prompt.keys
    is_beside = given[:1] == [None]
    untouched = _unchanged(messages, prompt, thread, units)
    stubs = stubs_of(compiled, origins, messages)
    untouched -= _repaired(compiled, messages, stubs, renames=renames)
    for place in stubs.places:
        origins[place] = ()  # so that the message with the call stands alone
    if is_beside:  # a separate prompt is no message to pass on
        untouched -= _at_top(units) - set(prompt.keys if prompt else ())
    framed = _framed(compiled)

    def passing(keys: AbstractSet[Key]) -> PassedRequest[Own]:
        return pass_through(
            compiled.messages,
            origins,
            units,
            given,
            lambda key: key not in keys,
            framed,
        )

    bound = {bound_call(own) for own in _own_messages(units, given)} - {""}
    passed = _with_whole_calls(passing, untouched, messages, bound)
    passed = _with_stubs(passed, compiled, stubs)
    own = _own_prompt(prompt, thread, units) if prompt and is_prompt else None
    if own and is_beside and own[0].start > 0:
        own = None
    if own and takes_system and compiled.system is not None:
        return _with_leading(passed, own, given)._replace(system=system)
    if not is_beside:  # the client gives no separate prompt
        return passed._replace(system=compiled.system or system)
    if own:
        return passed._replace(system=system)
    if compiled.system is None and compiled.prompt:  # put it where the client had it
        return passed._replace(
            messages=passed.messages[1:],
            origins=passed.origins[1:],
            system=compiled.prompt,
        )
    return passed._replace(system=compiled.system)


def _with_whole_calls(
    passing: Callable[[AbstractSet[Key]], PassedRequest[Own]],
    untouched: AbstractSet[Key],
    messages: Sequence[Outgoing],
    bound: AbstractSet[str],
) -> PassedRequest[Own]:
    """The request in which no bound call goes out half as given and half compiled."""
    while True:
        passed = passing(untouched)
        split = _split(messages, bound, passed.given)
        if not split:
            return passed
        untouched -= split


def _own_messages(units: Sequence[Unit], given: Sequence[Own | None]) -> Iterator[Own]:
    """The client's messages in these units."""
    for unit in units:
        yield from (own for own in given[unit.start : unit.end] if own is not None)


def _split(
    messages: Sequence[Outgoing], bound: AbstractSet[str], given: AbstractSet[Key]
) -> set[Key]:
    """The messages of `given` with half of a bound call of which the rest isn't in `given`."""
    calls, results = (
        defaultdict[str, list[Key]](list),
        defaultdict[str, list[Key]](list),
    )
    for message in messages if bound else ():
        for halves, ids in ((calls, message.call_ids), (results, message.result_ids)):
            for id_ in bound & set(ids):
                halves[id_].append(message.key)
    found: set[Key] = set()
    for id_ in calls.keys() | results.keys():
        keys = {*calls[id_], *results[id_]}
        if not (calls[id_] and results[id_] and keys <= given):
            found |= keys & given
    return found


def _unchanged(
    messages: Sequence[Outgoing],
    prompt: Layer | None,
    thread: Thread,
    units: Sequence[Unit],
) -> set[Key]:
    """The messages, including the prompt's, that say what the client sent."""
    sent_instead = {key for unit in units for key in unit.made}
    found = {
        message.key
        for message in messages
        if not message.changed
        and (message.index is not None or message.key in sent_instead)
    }
    if prompt:
        found.update(key for key in prompt.keys if not thread.spans(key))
    return found


def _repaired(
    compiled: Compiled, messages: Sequence[Outgoing], stubs: Stubs, *, renames: bool
) -> set[Key]:
    """The messages that a rule repairs because of their neighbours, not their own content."""
    found = {
        key
        for issue in compiled.issues
        if issue.severity is Severity.REPAIRED and not issue.is_own
        for key in issue.keys
    }
    if renames or any(issue.rule == "R2" for issue in compiled.issues):
        found |= _renamed(compiled, messages)
    return found - stubs.parts.keys()


def _with_stubs(
    passed: PassedRequest[Own], compiled: Compiled, stubs: Stubs
) -> PassedRequest[Own]:
    """The request with the stubs' sources, which are the messages with their calls."""
    forms = {id(compiled.messages[place]): key for place, key in stubs.places.items()}
    pairs = zip(passed.messages, passed.origins, strict=True)
    origins = [
        (forms[id(one)],) if not keys and id(one) in forms else keys
        for one, keys in pairs
    ]
    return passed._replace(origins=origins)


def _framed(compiled: Compiled) -> set[Key]:
    """The system messages that were compiled as user messages."""
    issues = (one for one in compiled.issues if one.rule == "R5" and one.is_own)
    return {key for issue in issues for key in issue.keys}


def _renamed(compiled: Compiled, messages: Sequence[Outgoing]) -> set[Key]:
    """The messages with results whose calls were given other ids."""
    known = {
        (message.key, part.call_id)
        for message in messages
        for part in message.parts
        if isinstance(part, ToolResult)
    }
    return {
        piece.key
        for turn in compiled.turns
        for piece in turn.pieces
        if piece.key is not None
        and isinstance(piece.part, ToolResult)
        and (piece.key, piece.part.call_id) not in known
    }


def _own_prompt(
    prompt: Layer, thread: Thread, units: Sequence[Unit]
) -> list[Unit] | None:
    """The units of the prompt, if all of it is the client's own and unchanged; None otherwise."""
    silent = {key for unit in units if unit.start == unit.end for key in unit.keys}
    by_key = {key: unit for unit in units for key in unit.keys}
    spoken = [key for key in prompt.keys if key not in silent]
    if any(key not in by_key or thread.spans(key) for key in spoken):
        return None
    own = list(dict.fromkeys(by_key[key] for key in spoken))
    said = [key for unit in own for key in unit.keys]
    return own if said == spoken and all(unit.as_given for unit in own) else None


def _with_leading(
    passed: PassedRequest[Own], prompt: Sequence[Unit], given: Sequence[Own | None]
) -> PassedRequest[Own]:
    """Put the client's own messages for the prompt before what goes out."""
    leading = [
        (form, unit.keys)
        for unit in prompt
        for form in given[unit.start : unit.end]
        if form is not None
    ]
    return passed._replace(
        messages=[*(form for form, _ in leading), *passed.messages],
        origins=[*(keys for _, keys in leading), *passed.origins],
        given=passed.given.union(*(keys for _, keys in leading)),
    )


def _at_top(units: Sequence[Unit]) -> set[Key]:
    """The originals in the client's first message."""
    return {key for unit in units if unit.start == 0 for key in unit.keys}


def pass_through(
    messages: Sequence[Form],
    origins: Sequence[Collection[Key]],
    units: Sequence[Unit],
    given: Sequence[Own | None],
    is_changed: Callable[[Key], bool],
    framed: AbstractSet[Key] = frozenset(),
) -> PassedRequest[Own]:
    """The compiled messages, replaced by the client's own where nothing in them is changed.

    `origins` are the sources of the compiled messages; `units` align the client's messages
    (`given`) with the originals. `framed` are system messages among the others that were compiled
    as user messages. If the client sends one as a system message, the provider accepts it, but
    only as the last of a user's turn (R5).
    """
    originals, place = _OriginalUnits(units, is_changed, framed), 0
    sent: list[Form | Own] = []
    sources: list[Sequence[Key]] = []
    kept: set[Key] = set()
    while place < len(messages):
        if (unit := originals.alone(origins, place)) is not None:
            starts, end = [unit], place + 1
        elif (run := _run(origins, place, originals.whole)) is not None and (
            starts := originals.of(run.keys)
        ):
            end = run.end
        else:
            sent.append(messages[place])
            sources.append(tuple(origins[place]))
            place += 1
            continue
        for unit in starts:
            kept.update(unit.keys)
            own = [form for form in given[unit.start : unit.end] if form is not None]
            sent += own
            sources += [unit.keys] * len(own)
        place = end
    return PassedRequest(sent, frozenset(kept), sources)


class _OriginalUnits:
    """The units of what the client sends, and which of them may pass unchanged."""

    def __init__(
        self,
        units: Sequence[Unit],
        is_changed: Callable[[Key], bool],
        framed: AbstractSet[Key],
    ) -> None:
        self._by_key = {key: unit for unit in units for key in unit.keys}
        self._is_changed = is_changed
        self._framed = framed

    def alone(self, origins: Sequence[Collection[Key]], place: int) -> Unit | None:
        """The unit that is exactly one compiled message, as most are; None otherwise."""
        if len(origins[place]) != 1:
            return None
        (key,) = origins[place]
        unit = self._unit(key)
        if unit is None or len(unit.keys) != 1 or key in self._framed:
            return None
        behind = origins[place + 1] if place + 1 < len(origins) else ()
        return None if key in behind else unit

    def whole(self, keys: Collection[Key]) -> frozenset[Key]:
        """All keys of the units that these keys belong to; empty if any must be compiled."""
        found: set[Key] = set()
        for key in keys:
            unit = self._unit(key)
            if unit is None:
                return frozenset()
            found.update(unit.keys)
        return frozenset() if any(map(self._is_changed, found)) else frozenset(found)

    def of(self, keys: Sequence[Key]) -> list[Unit]:
        """The units of these messages, in order, if all may go out as given.

        Empty if the messages of a unit are sent in another order, or if a system message would
        not end a user's turn.
        """
        if not self._framed.isdisjoint([*keys[:-1], *(keys if len(keys) == 1 else ())]):
            return []
        found = list(dict.fromkeys(self._by_key[key] for key in keys))
        said = [key for unit in found for key in unit.keys]
        return found if said == list(keys) else []

    def _unit(self, key: Key) -> Unit | None:
        """The unit of a message if it may go out as given, else None."""
        unit = self._by_key.get(key)
        if unit is None or not unit.as_given or self._is_changed(key):
            return None
        return unit


def _run(
    origins: Sequence[Collection[Key]],
    start: int,
    whole: Callable[[Collection[Key]], frozenset[Key]],
) -> _Run | None:
    """The shortest run from a place on that splits no unit; None if there is none."""
    wanted: frozenset[Key] = frozenset()
    seen: dict[Key, None] = {}
    for place in range(start, len(origins)):
        keys = origins[place]
        if seen and seen.keys() == wanted and wanted.isdisjoint(keys):
            return _Run(start, place, tuple(seen))
        more = whole(keys)
        if not more:
            return None
        wanted |= more
        seen.update(dict.fromkeys(keys))
    is_whole = seen and seen.keys() == wanted
    return _Run(start, len(origins), tuple(seen)) if is_whole else None
