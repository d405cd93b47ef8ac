"""The one way from a session to the request that is sent, whoever asks.

The page, `GET …/context`, the agent's tools, `apply`, the provider checks, the ledger and every
export of the effective view describe what they want as `ContextInputs` and get it from `build`.
They differ only in how they write the result.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from operations.domain.context.assembly import (
    NO_STEPS,
    Assembly,
    LastSteps,
    Plan,
    assemble,
    outgoing_messages,
    unchanged_made_messages,
    unchanged_originals,
    untouched_originals,
)
from operations.domain.context.compiling import (
    CompilationResult,
    compilation_result,
    keys_near,
    left_out_results,
    unanswered,
)
from operations.domain.context.epochs import (
    Continuation,
    Followed,
    RequestStart,
    begin_epoch,
    continue_epoch,
)
from operations.domain.context.step import Count, Step, weigh
from operations.domain.providers import compile_request
from operations.domain.providers.plain import UnreadMessage
from operations.domain.providers.request import (
    Compiled,
    Draft,
    LeftOutResult,
    Outgoing,
    answered_call_ids,
)
from operations.domain.providers.signed_places import SignedPlaces
from operations.domain.tree.key import Key
from operations.log.cache import Cache
from threads.domain.formats.format import Heading
from threads.domain.part import Part
from threads.models import Session
from threads.store import blobs
from threads.store.originals import load_messages

from .epochs import is_bound, store_epochs
from .inputs import ContextInputs, counter_of, strategy_of

_ROWS = 500
"""How many originals are counted at once, if the model uses another encoding."""


@dataclass(frozen=True, kw_only=True)
class BuiltRequest:
    """A request with everything that it was made of."""

    assembly: Assembly
    compiled: Compiled
    signed: SignedPlaces
    """See `Draft.signed`."""
    count: Count

    @property
    def steps(self) -> Sequence[Step]:
        """The steps from the originals to what is sent, ending with the compiler's own."""
        return [*self.assembly.steps, self._compiling.step]

    @property
    def sent(self) -> int:
        """The tokens of the request's own texts: prompt, messages, frames and repairs."""
        return self._compiling.step.after

    @property
    def messages(self) -> Sequence[Outgoing]:
        """The messages of the assembly with their tokens in the request."""
        return self._compiling.messages

    @cached_property
    def _compiling(self) -> CompilationResult:
        return compilation_result(self.assembly, self.compiled, self.count)


def build(inputs: ContextInputs, assembly: Assembly | None = None) -> BuiltRequest:
    """The request for a provider: assembled by policy and layers, then compiled by its rules.

    `assembly` may be one made from the same inputs for another provider, to be reused.
    """
    assembly, draft, _ = make_draft(inputs, assembly)
    left_out = results_left_out(inputs, assembly, unanswered(draft.messages))
    draft = replace(draft, left_out=left_out)
    compiled = compile_request(inputs.provider, draft)
    return BuiltRequest(
        assembly=assembly,
        compiled=compiled,
        signed=draft.signed,
        count=counter_of(inputs.encoding),
    )


class DraftedRequest(NamedTuple):
    """A request before it is compiled."""

    assembly: Assembly
    draft: Draft
    continuation: Continuation
    """How it continues what was sent of the session."""


def make_draft(
    inputs: ContextInputs, assembly: Assembly | None = None
) -> DraftedRequest:
    """What is compiled, except for what left out results of its calls.

    `assembly` may be one made from the same inputs, to be reused.
    """
    if assembly is None:
        assembly = _assemble(inputs, counter_of(inputs.encoding))
    found = _continuation(inputs, assembly)
    heading = Heading(
        title=inputs.session.title,
        model=inputs.model,
        strategy=inputs.session.parsing_strategy,
        blob=blobs.read,
    )
    draft = Draft(
        layers=assembly.layers,
        messages=assembly.messages,
        model=inputs.model,
        heading=heading,
        signed=found.signed,
        tools=inputs.tools,
        can_recall=inputs.can_recall,
    )
    return DraftedRequest(assembly, draft, found)


def _continuation(inputs: ContextInputs, assembly: Assembly) -> Continuation:
    """How the request continues what was sent before, and so which signatures hold."""
    pk = inputs.session.pk
    start = _request_start(inputs, assembly)
    found = continue_epoch(inputs.epochs, start, _followed.get(pk))
    if found.followed is not None:
        _followed.keep(pk, found.followed)
    return found


_followed: Cache[Followed] = Cache(lambda known: 8 * len(known.messages))


def keep_epoch(
    inputs: ContextInputs, drafted: DraftedRequest, *, is_closed: bool
) -> None:
    """Store the epoch that a request begins, if it begins one; the session's row is locked.

    See `begin_epoch` for `is_closed`.
    """
    found = drafted.continuation
    if (found.is_same and not is_closed) or not is_bound(inputs.provider):
        return
    leaves = inputs.thread.leaves
    begun = begin_epoch(inputs.epochs, found, leaves, is_closed=is_closed)
    store_epochs(inputs.session, begun)


def _request_start(inputs: ContextInputs, assembly: Assembly) -> RequestStart:
    """What a request sends, as far as signatures depend on it."""
    calls = partial(unanswered, assembly.messages)
    return RequestStart(
        layers=assembly.layers,
        messages=assembly.messages,
        intact=assembly.intact,
        is_plain=assembly.is_plain,
        originals=inputs.thread.message_count,
        can_recall=inputs.can_recall,
        lineage=inputs.thread.lineage,
        left_out=lambda: results_left_out(inputs, assembly, calls()),
    )


def _assemble(inputs: ContextInputs, count: Count) -> Assembly:
    thread = inputs.thread
    shown: int | None
    messages, shown = _messages_of(inputs)
    total = None
    if inputs.encoding != inputs.session.encoding:
        shown = None
        messages = [one._replace(tokens=count(one.parts)) for one in messages]
        total = sum(count(parts) for parts in _originals(inputs.session))
    key = inputs.session.pk, inputs.encoding
    plan = Plan(
        count=count,
        strategy=strategy_of(inputs.provider),
        policy=inputs.policy,
        preference=inputs.preference,
        layers=inputs.layers,
        can_recall=inputs.can_recall,
        last=_last_steps.get(key) or NO_STEPS,
    )
    made = assemble(thread, messages, plan, total=total, shown=shown)
    if made.last != NO_STEPS:
        _last_steps.keep(key, made.last)
    return made


_last_steps: Cache[LastSteps] = Cache(
    lambda last: 200 * (1 + len(last.cuts) + len(last.top.messages if last.top else ()))
)


class _KnownMessages(NamedTuple):
    """The messages of a thread as they go out.

    A thread that extends it begins with the same ones.
    """

    lineage: object
    strategy: str
    purged: frozenset[Key]
    nodes: int
    """How many nodes at the top of the thread the messages cover."""
    messages: list[Outgoing]
    tokens: int
    """The tokens of all these messages."""


_known: Cache[_KnownMessages] = Cache(lambda known: 400 * len(known.messages))


def _messages_of(inputs: ContextInputs) -> tuple[list[Outgoing], int]:
    """The messages of the thread as they go out, and their tokens in the session's encoding.

    A request in a loop only adds originals at the end, so everything before them is taken from
    the last request. If the log has changed, the originals that nothing touches are reused.
    """
    session, thread = inputs.session, inputs.thread
    can_recall = inputs.can_recall
    is_read = not inputs.unread
    key = (session.pk, session.encoding, thread.active_tags, can_recall, is_read)
    last, basis = _known.get(key), (session.parsing_strategy, thread.log.purged)
    if last is None or (last.strategy, last.purged) != basis:
        last = _KnownMessages(None, *basis, 0, [], 0)
    if last.lineage is thread.lineage:
        if last.nodes == thread.total:
            return last.messages, last.tokens
        more = _read_messages(inputs, start=last.nodes)
        messages, count = [*last.messages, *more], last.tokens + weigh(more)
    else:
        messages = _read_messages(inputs, last=last.messages)
        count = weigh(messages)
    if not inputs.reader.inbound:
        kept = _KnownMessages(thread.lineage, *basis, thread.total, messages, count)
        _known.keep(key, kept)
    return messages, count


def _read_messages(
    inputs: ContextInputs,
    *,
    start: int = 0,
    last: Sequence[Outgoing] = (),
) -> list[Outgoing]:
    """As `outgoing_messages`, reading only what can't be reused from `last`."""
    thread, count = inputs.thread, counter_of(inputs.session.encoding)
    nodes = thread.keys[start:]
    known = untouched_originals(thread, inputs.unread, nodes) | unchanged_originals(
        thread, last
    )
    shown = {
        key: thread.shown_at(position)
        for position, key in enumerate(nodes, start)
        if key not in known
    }
    again = unchanged_made_messages(thread, chain.from_iterable(shown.values()), last)
    keys = [
        one.key for of_node in shown.values() for one in of_node if one.key not in again
    ]
    return outgoing_messages(
        thread,
        inputs.reader.effective(keys),
        count,
        start=start,
        known=known,
        shown=shown,
        again=again,
        can_recall=inputs.can_recall,
    )


def with_contents(
    inputs: ContextInputs, messages: Sequence[Outgoing]
) -> Sequence[Outgoing]:
    """The same messages, with the contents of those that were not read yet."""
    wanted = [one.key for one in messages if isinstance(one, UnreadMessage)]
    if not wanted:
        return messages
    said = inputs.reader.effective(wanted)
    return [
        one.with_contents(text.parts, text.strategy, text.name)
        if isinstance(one, UnreadMessage) and (text := said[one.key])
        else one
        for one in messages
    ]


def _originals(session: Session) -> Iterator[tuple[Part, ...]]:
    for start in range(0, session.message_count, _ROWS):
        for original in load_messages(session, start, start + _ROWS):
            yield original.parts


def results_left_out(
    inputs: ContextInputs, assembly: Assembly, calls: Mapping[str, int]
) -> Mapping[str, LeftOutResult]:
    """Map calls sent without a result (`unanswered`) to what left the result out."""
    if not calls:
        return MappingProxyType({})
    thread = inputs.thread
    near = keys_near(thread, calls)
    known = untouched_originals(thread, inputs.plain, near)
    said = inputs.reader.effective(key for key in near if key not in known)
    answers = {
        key: known[key].result_ids
        if key in known
        else answered_call_ids(said[key].parts)
        for key in near
        if key in known or key in said
    }
    return left_out_results(thread, assembly.steps, calls, answers)
