"""Makes portions: compiles their messages, or detects that they go out as the client sent them."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from operations.domain.context.compiling import compare, tokens_unrepaired, unanswered
from operations.domain.forwarding.alignment import Unit
from operations.domain.forwarding.passthrough import PassedRequest, with_client_messages
from operations.domain.forwarding.sent import SentBlock, SentMessage
from operations.domain.forwarding.splice import GivenRun
from operations.domain.providers import PROVIDERS, compile_portion
from operations.domain.providers.plain import UnreadMessage
from operations.domain.providers.request import Compiled, Outgoing
from operations.domain.providers.rules import Rules
from operations.domain.providers.signed_places import NONE_SIGNED, SignedPlaces
from operations.domain.providers.turns import Turn
from operations.domain.tree.key import Key
from threads.domain.message import Role
from threads.domain.part import ToolCall, ToolResult

from .portion import Basis, Frame, Portion
from .weights import added_tokens, stub_tokens


@dataclass(slots=True)
class PortionMaker:
    """Makes portions from the messages of one request."""

    frame: Frame
    head: Hashable
    """`Basis.head` of the first portion."""
    messages: Sequence[Outgoing]
    renames: bool
    """Whether calls in the request are given other ids or names."""

    def make(self, start: int, end: int, signed: SignedPlaces) -> Portion:
        """Make the portion of the messages from `start` to `end`."""
        if plain := self.make_unread(start, end, signed):
            return plain
        frame, calls = self.frame, unanswered(self.messages[start:end])
        basis = self._basis(start, end, signed, calls)
        messages = frame.read(basis.messages)
        found = compile_portion(
            frame.provider,
            replace(
                frame.draft,
                layers=() if basis.follows else frame.draft.layers,
                messages=messages,
                signed=basis.signed,
                left_out=dict(basis.left_out),
                follows=basis.follows,
                is_followed=basis.is_followed,
            ),
        )
        compiled = found.compiled
        compared = compare(messages, compiled, frame.count)
        at_top = () if basis.follows else frame.at_top
        units = dict.fromkeys([*at_top, *filter(None, basis.units)])
        passed = with_client_messages(
            compiled,
            () if basis.follows else frame.draft.layers,
            messages,
            frame.thread,
            list(units),
            frame.given,
            frame.system,
            renames=basis.renames,
            takes_system=PROVIDERS[frame.provider].rules.system_anywhere,
            bound_call=frame.bound_call,
        )
        turns = compiled.turns
        return Portion(
            basis=basis,
            length=len(messages),
            findings=found.findings,
            breaks=found.breaks,
            unanswered=calls,
            ids=frozenset(_ids(messages, turns)),
            shared=frozenset(unit for unit in units if len(unit.keys) > 1),
            has_reasoning=_signs(messages),
            first_role=_speaker(turns[:1], 0),
            last_role=_speaker(turns[-1:], len(messages) - 1),
            lost=compared.lost,
            given=passed.given,
            block=SentBlock(
                tuple(self._sent(passed, compiled, messages, compared.messages))
            ),
            prompt=compiled.prompt,
            system=passed.system,
        )

    def make_unread(self, start: int, end: int, signed: SignedPlaces) -> Portion | None:
        """Make a portion of messages that compiling would not change, without reading them.

        Returns None unless that is certain: all messages are plain, they alternate as every
        provider requires, all may go out as the client sent them, and any reasoning in them is
        signed by the provider's own models with signatures that hold.
        """
        if self.renames or start == 0:
            return None
        frame, messages = self.frame, self.messages[start:end]
        rules, is_followed = PROVIDERS[frame.provider].rules, end < len(self.messages)
        if not is_followed and rules.alternates and messages[-1].role is Role.ASSISTANT:
            return None  # a request may not end with the assistant
        ids = _ids_in_turn(messages, rules)
        if ids is None:
            return None
        signs = _signs(messages)
        held = _signed(messages, start, signed)
        if signs and held != SignedPlaces.first(len(messages)):
            return None
        keys = [message.key for message in messages]
        units = tuple(map(frame.unit, keys))
        if not all(unit is not None and _is_own(unit) for unit in units):
            return None
        ends = messages[-1].role
        if messages[-1].result_ids:
            ends = Role.USER if rules.results_by_user else Role.TOOL
        return Portion(
            basis=Basis(
                messages=messages,
                units=units,
                left_out=(),
                signed=held,
                follows=True,
                is_followed=is_followed,
                renames=False,
                head=None,
            ),
            length=len(messages),
            findings={},
            breaks=(),
            unanswered={},
            ids=ids,
            shared=frozenset(),
            has_reasoning=signs,
            first_role=messages[0].role,
            last_role=ends,
            lost=[],
            given=frozenset(keys),
            block=self._given_block(messages, units),
            prompt="",
            system=None if frame.given[:1] == [None] else frame.system,
        )

    def _given_block(
        self, messages: Sequence[Outgoing], units: Sequence[Unit | None]
    ) -> SentBlock:
        """The messages as the client sent them.

        Reuses the last request's block if it is the same.
        """
        frame = self.frame
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
        self,
        passed: PassedRequest[int],
        compiled: Compiled,
        messages: Sequence[Outgoing],
        written: Sequence[Outgoing],
    ) -> Iterator[SentMessage]:
        """The messages that go out; `written` are `messages` with what they count as compiled.

        A source split into several messages is counted with the first.
        """
        frame, given = self.frame, passed.given
        stubs = stub_tokens(compiled, messages, frame.count)
        tokens = {
            one.key: tokens_unrepaired(one, frame.provider, frame.count)
            if one.key in given
            else other.tokens - stubs.get(one.key, 0)
            for one, other in zip(messages, written, strict=True)
        }
        added = added_tokens(compiled, messages, frame.count)
        more = {id(one): n for one, n in zip(compiled.messages, added, strict=True)}
        counted: set[Key] = set()
        for one, keys in zip(passed.messages, passed.origins, strict=True):
            rest = [key for key in keys if key not in counted]
            counted.update(rest)
            if isinstance(one, int):
                weight = sum(
                    tokens[key] if key in tokens else frame.recorded(key)
                    for key in rest
                )
                yield SentMessage(GivenRun(one, one + 1), tuple(keys), weight)
            else:
                weight = more[id(one)] + sum(tokens.get(key, 0) for key in rest)
                yield SentMessage(frame.write(one), tuple(keys), weight)

    def _basis(
        self, start: int, end: int, signed: SignedPlaces, calls: Mapping[str, int]
    ) -> Basis:
        messages, left_out = self.messages[start:end], self.frame.left_out(calls)
        return Basis(
            messages=messages,
            units=tuple(self.frame.unit(message.key) for message in messages),
            left_out=tuple(left_out.items()),
            signed=_signed(messages, start, signed),
            follows=start > 0,
            is_followed=end < len(self.messages),
            renames=self.renames,
            head=None if start else self.head,
        )


def _signed(
    messages: Sequence[Outgoing], start: int, signed: SignedPlaces
) -> SignedPlaces:
    """`Basis.signed`. Without signatures the value is the same, whatever holds."""
    if not _signs(messages):
        return NONE_SIGNED
    return signed.within(start, start + len(messages))


def _signs(messages: Sequence[Outgoing]) -> bool:
    return any(message.has_reasoning for message in messages)


def _speaker(turns: Sequence[Turn], place: int) -> Role | None:
    """The role of the turn that holds the message at a place; None if no turn does."""
    for turn in turns:
        if any(piece.place == place for piece in turn.pieces):
            return turn.role
    return None


def _ids_in_turn(messages: Iterable[Outgoing], rules: Rules) -> frozenset[str] | None:
    """The ids of the calls in plain messages; None if a provider's rules might change anything.

    Nothing is changed if speakers take turns, every call is answered once and at once, and every
    provider's form divides the conversation into the same messages. The caller has cut before the
    first message and after the last.
    """
    waiting: set[str] = set()
    ids: set[str] = set()
    last: Role | None = None
    for message in messages:
        if not isinstance(message, UnreadMessage):
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
    """Whether the unit is exactly one original and one client message that is not the prompt."""
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
