"""Contexts to compare another with: without any operation, without one, or with proposals.

Redactions stay on in all of them: what they mask is never shown.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from contextstudio.accounts.domain.errors import Invalid, NotFound
from operations.domain.ledger.first_changes import FirstChange
from operations.domain.ledger.ledger import PrefixChange, PromptPiece, first_change
from operations.domain.log.entry import Entry
from operations.domain.log.operation import Redact, Toggle
from operations.domain.providers import PROVIDERS
from operations.domain.providers.passes.signatures import signed_keys
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_key, entry_number
from operations.log.selectors import load_history, load_leaves, load_thread
from threads.models import Session

from .services import Context, ContextQuery, assemble_session

NOBODY = ""


def context_of_originals(session: Session, query: ContextQuery) -> Context:
    """The context without any operation."""
    return assemble_session(session, query_of_originals(session, query))


def query_of_originals(session: Session, query: ContextQuery) -> ContextQuery:
    """The same query, for the thread without any operation."""
    log = load_history(session).log
    redactions = {
        number: recorded
        for number, recorded in log.edits.items()
        if isinstance(recorded.edit, Redact)
    }
    keys = [entry_key(number) for number in log.edits if number not in redactions]
    thread = _thread_without(session, query, keys)
    masking = tuple((n, one.state, one.edit) for n, one in redactions.items())
    basis = ("originals", thread.message_count, log.purged, masking, thread.active_tags)
    return replace(query, thread=thread, basis=basis)


def context_without(session: Session, query: ContextQuery, operation: Key) -> Context:
    """The context without one operation. Raises NotFound, Invalid."""
    edit = load_history(session).log.edits.get(entry_number(operation) or 0)
    if edit is None:
        raise NotFound(f"There is no operation {operation}.", at=["against"])
    if isinstance(edit.edit, Redact):
        raise Invalid(
            "A redaction can't be left out of a comparison: that would show what it masks.",
            at=["against"],
        )
    thread = _thread_without(session, query, [operation])
    return assemble_session(session, replace(query, thread=thread))


def context_with(
    session: Session, query: ContextQuery, operations: Iterable[Key]
) -> Context:
    """The context as if these operations applied. Raises NotFound."""
    thread = thread_with(session, query, operations)
    return assemble_session(session, replace(query, thread=thread))


def thread_with(
    session: Session, query: ContextQuery, operations: Iterable[Key]
) -> Thread:
    """The thread as if these operations were on and their conditions held."""
    log = load_history(session).log
    numbers = {key: entry_number(key) or 0 for key in operations}
    for key, number in numbers.items():
        if number not in log.edits:
            raise NotFound(f"There is no operation {key[:40]}.", at=["operation"])
    tags, objective = query.active_tags, session.objective
    leaves = load_leaves(session)
    return replay(
        leaves,
        log,
        tags,
        objective=objective,
        assume={*numbers.values()},
        known=load_thread(session, tags),
    )


def _thread_without(
    session: Session, query: ContextQuery, operations: Iterable[Key]
) -> Thread:
    """The thread with operations switched off; nothing is recorded."""
    log = load_history(session).log
    off = Toggle(operations=tuple(operations), active=False)
    without = log.extended([Entry(log.head + 1, off, NOBODY)])
    return replay(
        load_leaves(session),
        without,
        query.active_tags,
        objective=session.objective,
        known=load_thread(session, query.active_tags),
    )


def first_difference(before: Context, after: Context) -> PrefixChange | None:
    """The first difference between the requests: in what is sent, or in how it was compiled."""
    change = first_change(_pieces(before), _pieces(after))
    keys = _recompiled(before, after)
    if not keys or (change and change.key in keys):
        return change
    pieces = list(_pieces(after))
    places = {piece.key: place for place, piece in enumerate(pieces)}
    key = min(keys, key=lambda one: places.get(one, len(pieces)))
    tokens = sum(piece.tokens for piece in pieces[: places.get(key, len(pieces))])
    if change and change.tokens <= tokens:
        return change
    return PrefixChange(key, tokens)


def newly_broken_signatures(before: Context, after: Context) -> tuple[Key, ...]:
    """Messages whose signatures hold in one context but no longer in the other."""
    held, holds = before.built.signed.hold, after.built.signed.hold
    valid = set(signed_keys(before.assembly.messages, held))
    broken = signed_keys(after.assembly.messages, lambda place: not holds(place))
    return _own(after, (key for key in broken if key in valid))


def first_broken(
    context: Context, found: Sequence[FirstChange]
) -> dict[Key, tuple[Key, ...]]:
    """The signatures that the first operation alone breaks, up to where the next one acts."""
    acting = sorted((touch.tokens, touch.operation) for touch in found if touch.key)
    if not acting:
        return {}
    first, operation = acting[0]
    end = acting[1][0] if len(acting) > 1 else context.sent
    tokens = sum(layer.tokens for layer in context.assembly.layers)
    between, signed = set[int](), context.built.signed
    for place, message in enumerate(context.built.messages):
        if first <= tokens < end and not signed.hold(place):
            between.add(place)
        tokens += message.tokens
    keys = signed_keys(context.built.messages, between.__contains__)
    return {operation: _own(context, keys)}


def _recompiled(before: Context, after: Context) -> tuple[Key, ...]:
    """The sources of the first compiled message that differs from the one before."""
    old, new = before.compiled, after.compiled
    for place, message in enumerate(new.messages):
        if place >= len(old.messages) or old.messages[place] != message:
            return next((keys for keys in new.origins[place:] if keys), ())
    return ()


def _pieces(context: Context) -> Iterator[PromptPiece]:
    """The layers, then the messages: the order in which providers hash them for the cache."""
    for layer in context.assembly.layers:
        key = layer.keys[0] if layer.keys else layer.name
        yield PromptPiece(key, layer.text, layer.tokens)
    for message in context.built.messages:
        text = (message.role, message.parts)
        yield PromptPiece(message.key, text, message.tokens)


def _own(context: Context, keys: Iterable[Key]) -> tuple[Key, ...]:
    """Of messages with signatures, those by the provider's own models, if signatures are bound."""
    rules = PROVIDERS[context.provider].rules
    if not rules.reasoning.is_bound:
        return ()
    written = {
        message.key
        for message in context.assembly.messages
        if message.strategy in rules.strategies
    }
    return tuple(key for key in keys if key in written)
