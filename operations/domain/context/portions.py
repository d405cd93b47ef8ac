"""A long request in portions, so that the next one makes anew only what differs from it.

Where one speaker has ended and another begins, neither looks at what the other says: what stands
before is compiled without what stands behind, and the other way round. So a request is cut at such
places and each portion made by itself. A portion of which nothing differs is taken again as it is.
What they make together is, to the byte, what one portion of all messages would be: where that
can't be said of a cut, there is none.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from operations.domain.forwarding.alignment import Unit
from operations.domain.forwarding.passthrough import Passed, with_own
from operations.domain.forwarding.sent import PassedMessages, SentBlock, SentMessage
from operations.domain.forwarding.splice import GivenRun
from operations.domain.providers import PROVIDERS, compile_portion
from operations.domain.providers.passes.work import Findings
from operations.domain.providers.plain import Unread
from operations.domain.providers.request import Draft, LeftOutResult, Outgoing
from operations.domain.providers.rules import Rules
from operations.domain.providers.turns import Turn
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from threads.domain.message import Role
from threads.domain.part import Text, ToolCall, ToolResult

from .compiling import as_given, compare, unanswered
from .step import Count

PROVIDERS_IN_PORTIONS = frozenset({"openai", "anthropic"})
"""Those whose rules look no farther than to a neighbour."""
SHORTEST = 16
"""Messages of a portion, but for the last one."""
SHORTEST_PLAIN = 64
"""Of one whose words nobody reads, for it costs little to make it anew."""
_TRIES = 4


class _Basis(NamedTuple):
    """All that a portion follows from, beside what the requests have in common."""

    messages: Sequence[Outgoing]
    units: tuple[Unit | None, ...]
    left_out: tuple[tuple[str, LeftOutResult], ...]
    intact: int
    """Up to which place signatures hold; one more than there are messages where they hold in
    all, and where there are none."""
    follows: bool
    goes_on: bool
    renames: bool
    head: Hashable
    """What stands before the first message; nothing where others follow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """What some messages, one behind the other, become."""

    basis: _Basis
    length: int
    """How many messages it is made of."""
    findings: Findings
    breaks: int | None
    """The place from which on signatures no longer hold, for what was done in it."""
    unanswered: Mapping[str, int]
    """As `compiling.unanswered`, of its own calls."""
    ids: frozenset[str]
    """Of the calls and results in it, as they were and as they are sent."""
    shared: frozenset[Unit]
    """The units of several messages in it."""
    signs: bool
    """Whether there is any reasoning in it."""
    begins: Role | None
    """Who speaks first in it; None where that isn't its first message."""
    ends: Role | None
    """Who speaks last in it; None where that isn't its last message."""
    added: int
    lost: list[tuple[Key, int]]
    """As `Compared`, for the whole portion."""
    more: int
    """The tokens that its messages have more where they go out as given."""
    given: frozenset[Key]
    """Of what goes out just as its client gave it."""
    block: SentBlock
    prompt: str
    """The words of all layers, as `Compiled.prompt`."""
    system: Any
    """The prompt that stands in a member of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What the portions of a request have in common. `draft` has no messages of its own."""

    provider: str
    draft: Draft
    thread: Thread
    given: Sequence[int | None]
    """The places of the client's messages, None for the prompt beside them."""
    system: Any
    at_top: Sequence[Unit]
    """The units of the client's first message."""
    unit: Callable[[Key], Unit | None]
    left_out: Callable[[Mapping[str, int]], Mapping[str, LeftOutResult]]
    """What left out the results of calls, as `results_left_out`."""
    write: Callable[[dict[str, Any]], bytes]
    count: Count
    recorded: Callable[[Key], int]
    """The tokens of a message that the request doesn't hold as one of its own."""
    read: Callable[[Sequence[Outgoing]], Sequence[Outgoing]]
    """Messages with the words of those that are `Unread`."""
    passed: PassedMessages | None = None
    """The last request, where all of it went out as its client gave it."""


_APART = {
    (Role.ASSISTANT, Role.USER),
    (Role.TOOL, Role.ASSISTANT),
    (Role.USER, Role.ASSISTANT),  # where results are a user's
}
"""Who may end and who begin at a cut."""


class Portions:
    """Makes the portions of one request, of those of another one where they are the same."""

    def __init__(
        self, frame: Frame, known: Sequence[Portion] = (), *, grown: bool = False
    ) -> None:
        """`grown`: the other request was made of a thread and under a policy that differ in nothing
        but that further originals stand at its end."""
        self._frame = frame
        self._grown = known if grown else ()
        self._known: dict[Key, Portion] = {}
        self._left_out: Mapping[str, LeftOutResult] = {}
        if not grown:
            self._know(known)
        self._renames = any(one.basis.renames for one in known[:1])
        layers = frame.draft.layers
        self._head = (
            tuple(layers),
            *(any(map(frame.thread.spans, layer.keys)) for layer in layers),
        )
        self._messages: Sequence[Outgoing] = ()

    def _know(self, portions: Iterable[Portion]) -> None:
        """Take these again where nothing of them differs, and no others."""
        self._known = _by_first(portions)
        named = {
            id_: index
            for one in self._known.values()
            for id_, index in one.unanswered.items()
        }
        self._left_out = self._frame.left_out(named) if named else {}

    def of(self, messages: Sequence[Outgoing], *, intact: int) -> list[Portion]:
        """The portions of a request; `intact` is that of its draft."""
        self._messages = list(messages)
        if self._frame.provider in PROVIDERS_IN_PORTIONS:
            for _ in range(_TRIES):
                found, same = self._cut(intact)
                across = [*_across(found, same)]
                # None of the same ones does, where the other request didn't.
                renames = _renames(found if self._renames else found[same:])
                if not across and renames == self._renames:
                    return found
                self._renames = renames
                self._grown = ()
                self._know(found)
                for first, last in across:
                    self._join(found, first, last, intact)
        self._renames = False  # of one portion, it says itself what it renames
        return [self._made(0, len(messages), intact)]

    def _join(
        self, found: Sequence[Portion], first: int, last: int, intact: int
    ) -> None:
        """Know portions from one to another as one from now on."""
        start, reach = 0, intact
        for portion in found[:first]:
            start, reach = start + portion.length, _behind(portion, reach)
        end = start + sum(portion.length for portion in found[first : last + 1])
        whole = self._made(start, end, reach)
        self._known[whole.basis.messages[0].key] = whole

    def _cut(self, intact: int) -> tuple[list[Portion], int]:
        """The portions of the messages, and how many at the top are those of the other request."""
        found, reach = self._same(intact)
        if self._grown:
            self._known = _by_first(self._grown[len(found) :])
        start, same = sum(portion.length for portion in found), len(found)
        while start < len(self._messages) or not found:
            portion = (
                self._again(start, reach[-1])
                or self._plain(start, self._end(start, SHORTEST_PLAIN), reach[-1])
                or self._made(start, self._end(start, SHORTEST), reach[-1])
            )
            while found and (found[-1].ends, portion.begins) not in _APART:
                end = start + portion.length
                start -= found.pop().length
                same = min(same, len(found))
                reach.pop()
                portion = self._made(start, end, reach[-1])
            found.append(portion)
            start += portion.length
            reach.append(_behind(portion, reach[-1]))
            if not self._renames and _renames([portion]):
                break  # all are made anew, knowing it
        return found, same

    def _same(self, intact: int) -> tuple[list[Portion], list[int]]:
        """The portions of a thread that this one is grown from, but for the last of them.

        With how far signatures hold before each, and behind them.
        """
        found: list[Portion] = []
        reach = [intact]
        if not self._grown or self._grown[0].basis.head != self._head:
            return found, reach
        for portion in self._grown[:-1]:
            basis = portion.basis
            is_same = basis.renames == self._renames and (
                not portion.signs or basis.intact == _clamped(reach[-1], portion.length)
            )
            if not is_same:
                break
            found.append(portion)
            reach.append(_behind(portion, reach[-1]))
        return found, reach

    def _end(self, start: int, shortest: int) -> int:
        """Where a portion that begins here ends: at the first cut that makes it long enough.

        Or before it at one where a known portion begins: behind a change, all are met again.
        """
        places = range(start + 1, len(self._messages))
        return next(
            (
                place
                for place in places
                if (
                    place >= start + shortest
                    or self._messages[place].key in self._known
                )
                and self._may_cut(place)
            ),
            len(self._messages),
        )

    def _may_cut(self, place: int) -> bool:
        """Whether somebody ended before a message and another one begins with it."""
        before, behind = self._messages[place - 1], self._messages[place]
        if behind.role is Role.USER:
            return _speaks(behind) and before.role is Role.ASSISTANT and _speaks(before)
        return (
            behind.role is Role.ASSISTANT
            and _says_anything(behind)
            and before.role is not Role.ASSISTANT
            and self._answers(place - 1)
        )

    def _answers(self, place: int) -> bool:
        """Whether a message is results alone, and answers calls of the one before all results."""
        ids: set[str] = set()
        while place >= 0:
            message = self._messages[place]
            if message.role is Role.ASSISTANT:
                return bool(ids) and ids == set(message.call_ids)
            if not _is_results(message):
                return False
            ids.update(message.result_ids)
            place -= 1
        return False

    def _basis(self, start: int, end: int, reach: int) -> _Basis:
        messages = self._messages[start:end]
        left_out = self._frame.left_out(unanswered(messages))
        return _Basis(
            messages=messages,
            units=tuple(self._frame.unit(message.key) for message in messages),
            left_out=tuple(left_out.items()),
            intact=_clamped(
                reach if _signs(messages) else len(messages) + 1, len(messages)
            ),
            follows=start > 0,
            goes_on=end < len(self._messages),
            renames=self._renames,
            head=None if start else self._head,
        )

    def _again(self, start: int, reach: int) -> Portion | None:
        """The known portion that begins here; None where anything of it differs."""
        if start == len(self._messages):
            return None
        known = self._known.get(self._messages[start].key)
        if known is None:
            return None
        basis, end = known.basis, start + known.length
        named = self._left_out
        left_out = (
            dict(basis.left_out)  # by folds alone, which are the same
            if self._grown
            else {id_: named[id_] for id_ in known.unanswered if id_ in named}
        )
        is_same = (
            basis.follows == (start > 0)
            and basis.goes_on == (end < len(self._messages))
            and basis.renames == self._renames
            and (basis.follows or basis.head == self._head)
            and self._messages[start:end] == basis.messages
            and (not basis.goes_on or self._may_cut(end))
            and basis.units
            == tuple([self._frame.unit(message.key) for message in basis.messages])
            and dict(basis.left_out) == left_out
            and (not known.signs or basis.intact == _clamped(reach, known.length))
        )
        return known if is_same else None

    def _made(self, start: int, end: int, reach: int) -> Portion:
        """The portion of the messages from one place to another."""
        if plain := self._plain(start, end, reach):
            return plain
        frame, basis = self._frame, self._basis(start, end, reach)
        messages = frame.read(basis.messages)
        found = compile_portion(
            frame.provider,
            replace(
                frame.draft,
                layers=() if basis.follows else frame.draft.layers,
                messages=messages,
                intact=basis.intact,
                left_out=dict(basis.left_out),
                follows=basis.follows,
                goes_on=basis.goes_on,
            ),
        )
        compiled = found.compiled
        compared = compare(messages, compiled, frame.count)
        at_top = () if basis.follows else frame.at_top
        units = dict.fromkeys([*at_top, *filter(None, basis.units)])
        passed = with_own(
            compiled,
            () if basis.follows else frame.draft.layers,
            messages,
            frame.thread,
            list(units),
            frame.given,
            frame.system,
            renames=basis.renames,
            takes_system=PROVIDERS[frame.provider].rules.system_anywhere,
        )
        now = {message.key: message.tokens for message in compared.messages}
        written = zip(messages, compared.messages, strict=True)
        turns = compiled.turns
        return Portion(
            basis=basis,
            length=len(messages),
            findings=found.findings,
            breaks=found.watermark if found.watermark < basis.intact else None,
            unanswered=unanswered(messages),
            ids=frozenset(_ids(messages, turns)),
            shared=frozenset(unit for unit in units if len(unit.keys) > 1),
            signs=_signs(messages),
            begins=_speaker(turns[:1], 0),
            ends=_speaker(turns[-1:], len(messages) - 1),
            added=compared.added,
            lost=compared.lost,
            more=sum(
                as_given(one, frame.provider, frame.count) - other.tokens
                for one, other in written
                if one.key in passed.given
            ),
            given=passed.given,
            block=SentBlock(tuple(self._sent(passed, now))),
            prompt=compiled.prompt,
            system=passed.system,
        )

    def _plain(self, start: int, end: int, reach: int) -> Portion | None:
        """The portion of messages that are what compiling them would come to, so that nobody needs
        their words; None where that can't be said of them.

        They are plain, one follows from the other, all may go out as their client gives them, and
        what reasoning they have is signed by the provider's own models and holds.
        """
        if self._renames or start == 0 or end == len(self._messages):
            return None
        frame, messages = self._frame, self._messages[start:end]
        rules = PROVIDERS[frame.provider].rules
        ids = _ids_in_turn(messages, rules)
        if ids is None:
            return None
        signs = _signs(messages)
        if signs and reach < len(messages):
            return None
        keys = [message.key for message in messages]
        units = tuple(map(frame.unit, keys))
        if not all(unit is not None and _is_own(unit) for unit in units):
            return None
        ends = messages[-1].role
        if messages[-1].result_ids:
            ends = Role.USER if rules.results_by_user else Role.TOOL
        return Portion(
            basis=_Basis(
                messages=messages,
                units=units,
                left_out=(),
                intact=_clamped(reach if signs else len(messages) + 1, len(messages)),
                follows=True,
                goes_on=True,
                renames=False,
                head=None,
            ),
            length=len(messages),
            findings={},
            breaks=None,
            unanswered={},
            ids=ids,
            shared=frozenset(),
            signs=signs,
            begins=messages[0].role,
            ends=ends,
            added=0,
            lost=[],
            more=0,
            given=frozenset(keys),
            block=self._given_block(messages, units),
            prompt="",
            system=None if frame.given[:1] == [None] else frame.system,
        )

    def _given_block(
        self, messages: Sequence[Outgoing], units: Sequence[Unit | None]
    ) -> SentBlock:
        """Messages as their client gives them, taken from the last request where it had them so."""
        frame = self._frame
        given = (frame.given[unit.start] for unit in units if unit)
        places = [place for place in given if place is not None]
        keys = [message.key for message in messages]
        return (frame.passed and frame.passed.block(places, keys)) or SentBlock(
            tuple(
                SentMessage(GivenRun(place, place + 1), (one.key,), one.tokens)
                for one, place in zip(messages, places, strict=True)
            )
        )

    def _sent(
        self, passed: Passed[int], now: Mapping[Key, int]
    ) -> Iterator[SentMessage]:
        """What goes out; what several messages are made of counts with the first of them."""
        counted: set[Key] = set()
        frame = self._frame
        for one, keys in zip(passed.messages, passed.origins, strict=True):
            piece = GivenRun(one, one + 1) if isinstance(one, int) else frame.write(one)
            rest = [key for key in keys if key not in counted]
            counted.update(rest)
            if keys:
                tokens = sum(
                    now[key] if key in now else frame.recorded(key) for key in rest
                )
            else:
                assert isinstance(piece, bytes)  # noqa: S101 - the client's have keys
                tokens = frame.count((Text(piece.decode()),))
            yield SentMessage(piece, tuple(keys), tokens)


def _by_first(portions: Iterable[Portion]) -> dict[Key, Portion]:
    """Portions by the messages that they begin with."""
    return {one.basis.messages[0].key: one for one in portions if one.length}


def _behind(portion: Portion, reach: int) -> int:
    """How far signatures hold behind a portion, up to whose place `reach` they do."""
    if portion.breaks is not None:
        reach = min(reach, portion.breaks)
    return max(0, reach - portion.length)


def _clamped(reach: int, length: int) -> int:
    return max(0, min(reach, length + 1))


def _speaks(message: Outgoing) -> bool:
    """Whether a message is texts alone, none of which is blank."""
    if isinstance(message, Unread):
        return not any(message.plain)  # no calls, no results, no reasoning
    parts = message.parts
    return bool(parts) and all(
        isinstance(part, Text) and not part.text.isspace() and part.text
        for part in parts
    )


def _says_anything(message: Outgoing) -> bool:
    """Whether anything is sent of an assistant's message: a text that isn't blank, or a call."""
    return isinstance(message, Unread) or any(
        isinstance(part, ToolCall) or (isinstance(part, Text) and part.text.strip())
        for part in message.parts
    )


def _is_results(message: Outgoing) -> bool:
    """Whether a message that isn't an assistant's is results and nothing else."""
    if isinstance(message, Unread):
        return bool(message.result_ids)
    return all(isinstance(part, ToolResult) for part in message.parts)


def _signs(messages: Sequence[Outgoing]) -> bool:
    return any(message.signs for message in messages)


def _speaker(turns: Sequence[Turn], place: int) -> Role | None:
    """Who speaks in a turn, if the message at a place is in it."""
    for turn in turns:
        if any(piece.place == place for piece in turn.pieces):
            return turn.role
    return None


def _ids_in_turn(messages: Iterable[Outgoing], rules: Rules) -> frozenset[str] | None:
    """The ids in plain messages that follow one another as every provider wants it: a user is
    answered, each call is at once and once, and no form cuts them in another way. Else None.

    The first one begins to speak, and the last one ends: there is a cut before and behind them.
    """
    waiting: set[str] = set()
    ids: set[str] = set()
    last: Role | None = None
    for message in messages:
        if not isinstance(message, Unread):
            return None
        calls, results, is_written, signers = message.plain
        if signers and not (signers <= rules.strategies and rules.reasoning.is_bound):
            return None
        role = Role.TOOL if results else message.role
        if results:
            wanted = len(waiting) if rules.results_by_user else 1
            is_next = len(results) == wanted and waiting.issuperset(results)
            is_next = is_next and (wanted == 1 or len(set(results)) == wanted)
            waiting.difference_update(results)
        else:
            is_next = last is not role and not waiting
            is_next = is_next and not (role is Role.USER and last is Role.TOOL)
        if calls:
            is_next = is_next and ids.isdisjoint(calls)
            waiting.update(calls)
            ids.update(calls)
            is_next = is_next and len(waiting) == len(calls)
            is_next = is_next and (rules.written_arguments or not is_written)
        if not is_next:
            return None
        last = role
    return None if waiting else frozenset(ids)


def _is_own(unit: Unit) -> bool:
    """Whether one of the client's messages, and not its prompt, is one original."""
    first, last, start, end, _, as_given, _ = unit
    return as_given and start > 0 and (last, end) == (first + 1, start + 1)


def _ids(messages: Iterable[Outgoing], turns: Iterable[Turn]) -> Iterator[str]:
    for message in messages:
        yield from message.call_ids
        yield from message.result_ids
    for part in (piece.part for turn in turns for piece in turn.pieces):
        if isinstance(part, ToolCall):
            yield part.id
        elif isinstance(part, ToolResult):
            yield part.call_id


def _renames(portions: Iterable[Portion]) -> bool:
    return any(
        finding.rule == "R2" for portion in portions for finding in portion.findings
    )


def _across(portions: Sequence[Portion], same: int) -> Iterator[tuple[int, int]]:
    """From which portion to which a call and its result, or a unit, are in several.

    In the first ones, which are the `same` as in another request, none is.
    """
    new = portions[same:]
    ids = frozenset[str]().union(*(one.ids for one in new))
    shared = frozenset[Unit]().union(*(one.shared for one in new))
    if (
        _are_apart([one.ids for one in new])
        and _are_apart([one.shared for one in new])
        and all(
            ids.isdisjoint(one.ids) and shared.isdisjoint(one.shared)
            for one in portions[:same]
        )
    ):
        return
    first_of: dict[Hashable, int] = {}
    found: list[tuple[int, int]] = []
    for place, portion in enumerate(portions):
        start = (
            min(
                first_of.setdefault(one, place)
                for one in (*portion.ids, *portion.shared)
            )
            if portion.ids or portion.shared
            else place
        )
        if start < place:
            while found and found[-1][1] >= start:
                start = min(start, found.pop()[0])
            found.append((start, place))
    yield from found


def _are_apart(sets: Sequence[frozenset[Any]]) -> bool:
    return sum(map(len, sets)) == len(frozenset().union(*sets))
