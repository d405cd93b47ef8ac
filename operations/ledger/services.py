"""What operations cost once and save each turn, in a session's context as it would be sent."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import NamedTuple

from django.core.cache import cache

from contextstudio.accounts.domain.caller import Caller
from operations.context.comparison import (
    context_of_originals,
    context_with,
    context_without,
    newly_broken_signatures,
)
from operations.context.model_catalog import Prices, prices_of
from operations.context.provider_checks import stamp_of
from operations.context.services import Context, ContextQuery, assemble_session
from operations.domain.ledger.ledger import clear_at_least
from operations.domain.ledger.saving import would_save
from operations.domain.log.operation import Edit, Redact
from operations.domain.thread.check import check
from operations.domain.tree.key import Key, entry_number
from operations.domain.tree.status import Status
from operations.edits.own_entries import staged_keys
from operations.log.selectors import load_history, load_thread
from threads.domain.part import ToolResult
from threads.models import Session
from threads.store.selectors import get_session

from .rows import (
    BundlePart,
    LedgerRow,
    bundles_of,
    compare,
    rows_of,
    rows_tried,
)

_SECONDS = 3600
"""How long the drawer's rows are cached, as prices may change with a release."""
PAID_IN = 10
"""Within how many turns a provider's own clearing should pay off (rule R18 of docs/ledger.md)."""


class LedgerEstimate(NamedTuple):
    """The rows of single operations, the rows of bundles, and `together` for all that is staged."""

    provider: str
    model: str
    prices: Prices
    rows: Sequence[LedgerRow]
    bundles: Mapping[BundlePart, LedgerRow]
    together: LedgerRow | None


class RuleNote(NamedTuple):
    """What a rule of docs/providers.md means for the figures."""

    rule: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The rows of a session for one provider and model."""

    context: Context
    prices: Prices
    total: LedgerRow | None
    """All operations together, compared with the originals; None if not requested."""
    rows: Sequence[LedgerRow]
    bundles: Mapping[BundlePart, LedgerRow]
    """What several operations of one bundle cost and save together."""


def ledger(
    caller: Caller, session_id: uuid.UUID, query: ContextQuery, operation: Key = ""
) -> Ledger:
    """The ledger of a session; with `operation`, only the exact row of that operation.

    Raises NotFound for an unknown operation.
    """
    session = get_session(caller, session_id)
    context = assemble_session(session, query)
    prices = prices_of(context.provider, context.model)
    rows = (
        [_exact(session, query, context, operation)]
        if operation
        else rows_of(session, query, context)
    )
    total = compare(context_of_originals(session, query), context)
    return Ledger(
        context=context,
        prices=prices,
        total=total,
        rows=rows,
        bundles=bundles_of(session, rows, prices),
    )


def estimate(session: Session, staged: Sequence[Key] = ()) -> LedgerEstimate:
    """What the drawer shows for a session and for what is staged; cached until it changes."""
    digest = sha256(" ".join(staged).encode()).hexdigest()
    name = f"ledger:{stamp_of(session)}:{digest}"
    found: LedgerEstimate | None = cache.get(name)
    if found is None:
        query = ContextQuery()
        context = assemble_session(session, query)
        prices = prices_of(context.provider, context.model)
        rows = rows_of(session, query, context)
        together = _staged_together(session, query, context, staged, rows)
        found = LedgerEstimate(
            provider=context.provider,
            model=context.model,
            prices=prices,
            rows=rows,
            bundles=bundles_of(session, rows, prices),
            together=together,
        )
        cache.set(name, found, _SECONDS)
    return found


def _staged_together(
    session: Session,
    query: ContextQuery,
    context: Context,
    staged: Sequence[Key],
    rows: Sequence[LedgerRow],
) -> LedgerRow | None:
    """What committing all that is staged would cost and save."""
    if not staged:
        return None
    row = compare(context, context_with(session, query, staged))
    own = (one for one in rows if one.operation in staged)
    return replace(row, is_to_save=any(one.is_to_save for one in own))


def notes_of(found: Ledger) -> Iterator[RuleNote]:
    """Yield notes on rules R8, R17 and R18 of docs/ledger.md if they affect the figures."""
    context, tariff = found.context, found.prices.tariff
    rows = [*([found.total] if found.total else []), *found.rows]
    if any(row.seals for row in rows):
        yield RuleNote(
            "R8",
            "Thinking that an operation invalidates is left out of every later request too, so the"
            " prefix is rewritten only once.",
        )
    if not tariff.cached_tokens(context.sent):
        why = (
            "Nothing is cached: each turn pays for all that is sent."
            if tariff.minimum is None
            else f"Nothing is cached below {tariff.minimum:,} tokens."
        )
        yield RuleNote("R17", why)
    prefix = _before_results(context)
    if context.provider == "anthropic" and prefix is not None:
        least = clear_at_least(context.sent, prefix, PAID_IN, tariff)
        if least is not None:
            yield RuleNote(
                "R18",
                f"Claude's own clearing of old results breaks the cache from"
                f" {prefix:,} tokens on: it pays within {PAID_IN} turns with a"
                f" clear_at_least of {least:,}.",
            )


def _before_results(context: Context) -> int | None:
    """The tokens before the first tool result; None if there is none."""
    tokens = sum(layer.tokens for layer in context.assembly.layers)
    for message in context.built.messages:
        if any(isinstance(part, ToolResult) for part in message.parts):
            return tokens
        tokens += message.tokens
    return None


def _exact(
    session: Session, query: ContextQuery, context: Context, operation: Key
) -> LedgerRow:
    """The exact row of one operation, from the contexts with and without it.

    An operation that applies is left out; one that doesn't is tried out.
    """
    number = entry_number(operation) or 0
    recorded = load_history(session).log.edits.get(number)
    thread = query.thread or load_thread(session, query.active_tags)
    applies = recorded and thread.report(number).status is Status.APPLIED
    if not applies:
        return compare(context, context_with(session, query, [operation]), operation)
    if recorded and isinstance(recorded.edit, Redact):
        rows = rows_of(session, query, context)
        return next(row for row in rows if row.operation == operation)
    return compare(context_without(session, query, operation), context, operation)


class Trial(NamedTuple):
    """What an edit would cost and save in a request, and the tokens it would save in the thread."""

    row: LedgerRow
    prices: Prices
    saved: int


def try_out(session: Session, edit: Edit) -> Trial:
    """What an edit would cost and save, without recording it.

    The figures equal those of its row in the ledger once it is recorded. Raises Invalid or
    Conflict as recording it would.
    """
    thread, query = load_thread(session), ContextQuery()
    checked = check(thread, [edit])
    before = assemble_session(session, query)
    after = assemble_session(session, replace(query, thread=checked.thread))
    number = thread.head + 1
    (row,) = rows_tried(before, checked.thread, {number: checked.edits[0]})
    return Trial(
        replace(row, seals=newly_broken_signatures(before, after)),
        prices_of(after.provider, after.model),
        would_save(thread, checked.edits[0]),
    )


class BundleTrial(NamedTuple):
    """What edits would cost and save together, and the provider and model of the estimate."""

    provider: str
    model: str
    prices: Prices
    row: LedgerRow


def try_out_bundle(session: Session, edits: Sequence[Edit]) -> BundleTrial:
    """What edits would cost and save together, without recording them. Raises as `try_out`."""
    query = ContextQuery()
    before = assemble_session(session, query)
    checked = check(load_thread(session), edits, bundle=True)
    after = assemble_session(session, replace(query, thread=checked.thread))
    prices = prices_of(before.provider, before.model)
    return BundleTrial(before.provider, before.model, prices, compare(before, after))


def staged_ledger(
    session: Session, caller: Caller, query: ContextQuery
) -> Ledger | None:
    """What committing would cost and save, compared with what is sent now.

    None if nothing is staged.
    """
    keys = staged_keys(session, caller)
    if not keys:
        return None
    context = assemble_session(session, query)
    prices = prices_of(context.provider, context.model)
    total = compare(context, context_with(session, query, keys))
    return Ledger(context=context, prices=prices, total=total, rows=(), bundles={})
