"""Makes what goes out in place of a client's messages, and stores it in pieces.

If a request continues the client's last one, what was made for that one is reused, portion by
portion, as far as nothing in it has changed.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.responses import dump, read_json
from operations.context.inputs import ContextInputs, counter_of
from operations.context.pipeline import (
    DraftedRequest,
    make_draft,
    results_left_out,
    with_contents,
)
from operations.domain.context.assembly import Assembly
from operations.domain.context.compiling import NAME, omissions
from operations.domain.context.portions.portion import Frame, Portion
from operations.domain.context.portions.request import Portions
from operations.domain.context.portions.sums import KeptPortions
from operations.domain.context.step import Count, Step
from operations.domain.forwarding.alignment import Unit
from operations.domain.forwarding.sent import (
    PassedMessages,
    PieceRun,
    SentBlock,
    SentMessage,
)
from operations.domain.forwarding.splice import GivenRun, Raw, Splice, joined
from operations.domain.providers.passes import findings
from operations.domain.providers.passes.work import findings_to_issues
from operations.domain.providers.progress import lacks_thinking
from operations.domain.providers.request import PROMPT, Issue, Severity
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index, original_key
from operations.log.cache import Cache
from operations.models import SentPiece
from threads.domain.formats import READERS
from threads.domain.part import Text
from threads.models import Session

from .alignment import Inbound
from .raw import Trace
from .sent.keeping import NONE_PACKED, PackedMessages, keep_sent
from .sent.outgoing import OutgoingPiece, member_piece

_BLOCK = 64
"""Messages per block if all messages pass as the client sent them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """What is sent in place of a client's messages. Figures are in tokens."""

    blocks: Sequence[SentBlock]
    """What goes out after the portions in `kept`."""
    system: Any
    before: int
    after: int
    kept: KeptPortions = field(default_factory=KeptPortions)
    """The first portions, up to the first whose pieces aren't stored yet."""
    blocks_before: Sequence[SentBlock] = ()
    """The blocks of the last request, if this one continues it."""
    portions: Sequence[Portion] = ()
    units: Sequence[Unit] = ()
    by_key: Mapping[Key, Unit] = field(default_factory=dict)
    issues: Sequence[Issue] = ()
    steps: Sequence[Step] = ()
    drafted: DraftedRequest | None = None
    """What was compiled; None if everything passes as the client sent it."""

    @property
    def splice(self) -> Splice:
        """The messages that go out."""
        more = (piece for block in self.blocks for piece in block.pieces)
        return Splice(joined(more, self.kept.blocks.pieces))

    @property
    def is_closed(self) -> bool:
        """Whether it ends with words of the compiler's, since no response may stand there."""
        return any(findings.LAST in portion.findings for portion in self.portions[-1:])


class _LastRequest(NamedTuple):
    """What went out for a client's last request."""

    trace: Trace
    size: int
    """The size of its body in bytes."""
    basis: Hashable
    """What its portions have in common."""
    units: Sequence[Unit]
    by_key: Mapping[Key, Unit]
    portions: Sequence[Portion]
    kept: KeptPortions
    """The first portions, whose pieces are stored."""
    blocks: Sequence[SentBlock]
    """Used instead of portions if the whole request passed as the client sent it."""
    grows_from: Hashable
    """See `_grows_from`."""

    @property
    def every_block(self) -> Sequence[SentBlock]:
        """Everything that went out."""
        return self.blocks or [portion.block for portion in self.portions]


_last: Cache[_LastRequest] = Cache(lambda last: 4 * last.size)


def make_outbound(
    inputs: ContextInputs, inbound: Inbound, units: Sequence[Unit]
) -> Outbound:
    """What to send. Raises Invalid (`refused`) if the provider would accept no form of it."""
    last = _last_of(inputs, inbound)
    before = last.every_block if last else ()
    if inputs.passes_through:
        total, passed = inputs.thread.tokens_sent, last.blocks if last else ()
        return Outbound(
            blocks=_own_blocks(inputs.thread, inbound, units, passed),
            blocks_before=() if passed else before,
            system=inbound.system,
            before=total,
            after=total,
        )
    drafted = make_draft(inputs)
    assembly, draft, _ = drafted
    by_key = _by_key(units, last)
    frame = _frame(inputs, inbound, units, by_key, drafted)
    if last and last.blocks:
        frame = replace(frame, passed=PassedMessages(last.blocks))
    known, grown = (
        (last.portions, _is_extension(inputs, units, last)) if last else ((), False)
    )
    portions = Portions(frame, known, grown=grown).divide(
        draft.messages, signed=draft.signed
    )
    kept = last.kept if last else KeptPortions()
    made = _combine(inputs, portions, kept.of(portions[:-1]), assembly)
    return replace(
        made, units=units, by_key=by_key, blocks_before=before, drafted=drafted
    )


def _is_extension(
    inputs: ContextInputs, units: Sequence[Unit], last: _LastRequest
) -> bool:
    """Whether everything that went out for the last request goes out again, followed by more."""
    is_same = not inputs.chooses and last.grows_from == _grows_from(inputs)
    return is_same and units[: len(last.units)] == last.units


def _grows_from(inputs: ContextInputs) -> Hashable:
    """A value that is equal for threads that differ only in further originals at the end.

    None if a policy or a slice selects messages: then the end affects what is sent.
    """
    return None if inputs.chooses else inputs.thread.lineage


def is_thinking_off(inbound: Inbound, sent: Outbound) -> bool:
    """Whether the provider would refuse the messages that go out if thinking is `enabled`."""
    if inbound.format != "anthropic" or all(one.rule != "R7" for one in sent.issues):
        return False  # nothing was lost
    blocks = (portion.block for portion in reversed(sent.portions))
    pieces = (one.piece for block in blocks for one in reversed(block.messages))
    given = inbound.messages
    out = (
        read_json(one) if isinstance(one, bytes) else given[one.start] for one in pieces
    )
    return lacks_thinking(out)


def keep_last(inputs: ContextInputs, inbound: Inbound, sent: Outbound) -> None:
    """Remember what went out, once all of it is stored, for the next request."""
    if inbound.raw is None:
        return
    last = _LastRequest(
        inbound.raw.trace,
        len(inbound.raw.body),
        _basis(inputs, inbound),
        sent.units,
        sent.by_key,
        sent.portions,
        sent.kept,
        () if sent.portions else sent.blocks,
        _grows_from(inputs),
    )
    _last.keep((inputs.session.pk, inbound.format), last)


def _last_of(inputs: ContextInputs, inbound: Inbound) -> _LastRequest | None:
    """The last request, if this one starts with the same bytes and is made in the same way."""
    last = _last.get((inputs.session.pk, inbound.format))
    if last is None or inbound.raw is None or last.basis != _basis(inputs, inbound):
        return None
    return last if inbound.raw.extends(last.trace) else None


def _basis(inputs: ContextInputs, inbound: Inbound) -> Hashable:
    session = inputs.session
    return (
        *(inputs.provider, inputs.model, inputs.encoding, dump(inputs.tools)),
        inputs.can_recall,
        *(session.title, session.parsing_strategy, session.encoding),
        *(session.project_id, dump(inbound.system)),
    )


def _by_key(units: Sequence[Unit], last: _LastRequest | None) -> Mapping[Key, Unit]:
    """The units by the keys of their messages; those of the last request are reused."""
    count = len(last.units) if last else 0
    known: Mapping[Key, Unit] = {}
    if last and units[:count] == last.units:
        known, units = last.by_key, units[count:]
    more: dict[Key, Unit] = {}
    for unit in units:
        first, behind, *_ = unit
        if behind == first + 1:
            more[original_key(first)] = unit  # the usual case
        else:
            more.update(dict.fromkeys(unit.keys, unit))
    return {**known, **more}


def _frame(
    inputs: ContextInputs,
    inbound: Inbound,
    units: Sequence[Unit],
    by_key: Mapping[Key, Unit],
    drafted: DraftedRequest,
) -> Frame:
    assembly, draft, _ = drafted
    prompt = next((layer for layer in draft.layers if layer.name == PROMPT), None)
    of_prompt = (by_key.get(key) for key in (prompt.keys if prompt else ()))
    at_top = [*takewhile(lambda unit: unit.start == 0, units), *of_prompt]
    # A separate system prompt was aligned too, as the first message.
    reader = READERS[inbound.format]
    beside_given = [None for _ in reader.read_system(inbound.system)]
    places = range(len(inbound.messages))
    return Frame(
        provider=inputs.provider,
        draft=replace(draft, messages=()),
        thread=inputs.thread,
        given=[*beside_given, *places] if beside_given else places,
        system=inbound.system,
        at_top=[unit for unit in at_top if unit is not None],
        unit=by_key.get,
        left_out=lambda calls: results_left_out(inputs, assembly, calls),
        write=dump,
        count=counter_of(inputs.encoding),
        recorded=lambda key: _recorded_tokens(inputs.thread, key),
        read=lambda messages: with_contents(inputs, messages),
        bound_call=lambda place: reader.bound_call(inbound.messages[place]),
    )


def _combine(
    inputs: ContextInputs,
    portions: Sequence[Portion],
    kept: KeptPortions,
    assembly: Assembly,
) -> Outbound:
    """The portions put together, with the step that reports what compiling changed.

    It doesn't report what the compiler would have changed in messages that go out as given.
    """
    new = portions[len(kept.sums.portions) :]
    sums = kept.sums.extended(new)
    issues = findings_to_issues(sums.findings)
    _refuse(issues)
    first, count = portions[0], counter_of(inputs.encoding)
    left_out = tuple(omissions(sums.lost, issues))
    blocks = [portion.block for portion in new]
    after = kept.blocks.tokens + sum(block.tokens for block in blocks)
    if first.system is not None:
        after += _system_tokens(first, assembly, count)
    step = Step(
        name=NAME,
        before=assembly.sent,
        after=after,
        added=after - assembly.sent + sum(omission.tokens for omission in left_out),
        left_out=left_out,
    )
    return Outbound(
        blocks=blocks,
        system=first.system,
        before=inputs.thread.tokens_sent,
        after=after,
        kept=kept,
        portions=portions,
        issues=[*_issues_of_compiled(issues, portions)],
        steps=[*assembly.steps, step],
    )


def _system_tokens(first: Portion, assembly: Assembly, count: Count) -> int:
    """The tokens of the prompt, without what of it goes out as messages."""
    prompt = {key for layer in assembly.layers for key in layer.keys}
    messages = (one for one in first.block.messages if prompt.issuperset(one.keys))
    whole = count((Text(first.prompt),)) if first.prompt else 0
    return max(0, whole - sum(one.tokens for one in messages if one.keys))


def _issues_of_compiled(
    issues: Iterable[Issue], portions: Sequence[Portion]
) -> Iterable[Issue]:
    """The issues, without those of messages that go out exactly as the client sent them."""
    for issue in issues:
        own = set(issue.keys) if issue.is_own else set()
        for portion in portions if own else ():
            own -= portion.given
        if own or not issue.is_own:
            yield issue


def _own_blocks(
    thread: Thread,
    inbound: Inbound,
    units: Sequence[Unit],
    known: Sequence[SentBlock],
) -> list[SentBlock]:
    """The client's messages as they came in, in blocks, each message with its keys and tokens.

    `known` are the blocks of the last request. If the last of them isn't full, messages are added
    to it.
    """
    start = sum(len(block.messages) for block in known)
    sent, room = _passed(thread, inbound, units, start), -start % _BLOCK
    begun = [block.extended(sent[:room]) for block in known[-1:] if room]
    starts = range(room, len(sent), _BLOCK)
    more = [SentBlock(tuple(sent[at : at + _BLOCK])) for at in starts]
    return [*known[: len(known) - len(begun)], *begun, *more]


def _passed(
    thread: Thread, inbound: Inbound, units: Sequence[Unit], start: int
) -> list[SentMessage]:
    """The client's messages from a place on, as they came in."""
    beside = len([*READERS[inbound.format].read_system(inbound.system)])
    places = range(start, len(inbound.messages))
    sent = [SentMessage(GivenRun(place, place + 1), (), 0) for place in places]
    for unit in reversed(units):
        if unit.end - beside <= start:
            break
        keys = tuple(unit.keys)
        tokens = sum(_recorded_tokens(thread, key) for key in keys)
        for place in range(max(start, unit.start - beside), unit.end - beside):
            # An original that the client sends as several messages is counted with the first.
            weight = tokens if place == unit.start - beside else 0
            sent[place - start] = sent[place - start]._replace(keys=keys, tokens=weight)
    return sent


def _recorded_tokens(thread: Thread, key: Key) -> int:
    """The tokens of a message as it was recorded; 0 if there is none with this key."""
    index = original_index(key)
    if index is not None:
        return thread.leaves[index].tokens
    made = thread.made_message(key)
    return made.tokens if made else 0


def _refuse(issues: Sequence[Issue]) -> None:
    refused = [one for one in issues if one.severity is Severity.REFUSED]
    if refused:
        raise Invalid(
            refused[0].detail,
            at=["messages"],
            code="refused",
            errors=[
                Invalid(
                    one.detail,
                    at=["messages"],
                    code=one.rule,
                    facts={"keys": list(one.keys)},
                )
                for one in refused
            ],
        )


def keep_outbound(
    session: Session,
    inbound: Inbound,
    sent: Outbound,
    run: Callable[[int, int], Raw],
    count: Count,
    packed: PackedMessages = NONE_PACKED,
) -> list[PieceRun]:
    """Store what goes out, in the order in which providers read it.

    `run` returns the client's messages as bytes.
    """
    beside: list[OutgoingPiece] = []
    if inbound.tools:
        weight = count((Text(dump(inbound.tools).decode()),))
        beside.append(member_piece(SentPiece.Kind.TOOLS, inbound.tools, (), weight))
    if sent.system is not None:
        tokens = sent.kept.blocks.tokens + sum(block.tokens for block in sent.blocks)
        weight = max(0, sent.after - tokens)
        beside.append(member_piece(SentPiece.Kind.SYSTEM, sent.system, (), weight))
    kept, before = sent.kept.blocks.runs, sent.blocks_before
    return keep_sent(session, beside, kept, sent.blocks, before, run, packed)
