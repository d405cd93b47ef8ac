"""What operations cost once and save each turn, in a session's context as it would be sent."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import NamedTuple

from django.core.cache import cache

from contextstudio.accounts.domain.caller import Caller
from operations.context.comparison import (
    broken,
    context_of_originals,
    context_with,
    context_without,
    earliest,
    first_broken,
    thread_with,
)
from operations.context.model_catalog import Prices, prices_of
from operations.context.provider_checks import stamp_of
from operations.context.services import Context, ContextQuery, assemble_session
from operations.domain.context.selection import SLICE
from operations.domain.context.window import WINDOW
from operations.domain.ledger.first_changes import FirstChange, first_changes, layout_of
from operations.domain.ledger.ledger import Bill, bill, bill_together, clear_at_least
from operations.domain.ledger.saving import would_save
from operations.domain.log.log import EditState
from operations.domain.log.operation import Digest, Edit, Redact
from operations.domain.providers.passes.media import SUMMARY
from operations.domain.thread.check import check
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_key, entry_number
from operations.domain.tree.status import Status
from operations.edits.own_entries import staged_keys
from operations.log.cache import Cache
from operations.log.selectors import load_history, load_thread
from threads.domain.part import Text, ToolResult
from threads.models import Session
from threads.store.selectors import get_session

_CUTS = (SLICE, WINDOW)
"""Steps that leave whole messages out."""
_SECONDS = 3600
"""How long the drawer's rows are kept: prices may change with the product."""
MOST_ROWS = 20_000
"""How many rows are kept in the process."""
PAID_IN = 10
"""The turns within which what a provider clears itself is to pay (rule R18 of docs/ledger.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """What one operation comes to, or several together (`operation` None)."""

    operation: Key | None
    bill: Bill
    first: Key | None
    """The message, fold or layer at which the request is changed first; None: nowhere."""
    seals: tuple[Key, ...]
    """Messages with signed reasoning that would hold without it, and no longer does."""
    exact: bool
    """Whether contexts were compared; else it was read off the thread."""
    frame: int = 0
    """Tokens that the request has around its words: it saves so many less than in the thread."""


_rows_kept: Cache[Sequence[LedgerRow]] = Cache(lambda rows: len(rows) + 1, MOST_ROWS)


class BundlePart(NamedTuple):
    """Those operations of a bundle that wait, or those that apply."""

    bundle: str
    waits: bool


class LedgerEstimate(NamedTuple):
    """The rows alone, those of one bundle together, and `together` what is staged."""

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
    """All operations together, against the originals; None where it wasn't asked for."""
    rows: Sequence[LedgerRow]
    bundles: Mapping[BundlePart, LedgerRow]
    """What several of a bundle's operations come to together."""


def ledger(
    caller: Caller, session_id: uuid.UUID, query: ContextQuery, operation: Key = ""
) -> Ledger:
    """The ledger of a session; with `operation` the exact row of this one alone.

    Raises NotFound for an operation that there is none of.
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
        bundles=_of_bundles(session, rows, prices),
    )


def estimate(session: Session, staged: Sequence[Key] = ()) -> LedgerEstimate:
    """What the drawer says of a session, and of what is staged; kept for as long as it holds."""
    digest = sha256(" ".join(staged).encode()).hexdigest()
    name = f"estimate:{stamp_of(session)}:{digest}"
    found: LedgerEstimate | None = cache.get(name)
    if found is None:
        query = ContextQuery()
        context = assemble_session(session, query)
        prices = prices_of(context.provider, context.model)
        rows = rows_of(session, query, context)
        together = (
            compare(context, context_with(session, query, staged)) if staged else None
        )
        found = LedgerEstimate(
            provider=context.provider,
            model=context.model,
            prices=prices,
            rows=rows,
            bundles=_of_bundles(session, rows, prices),
            together=together,
        )
        cache.set(name, found, _SECONDS)
    return found


def compare(before: Context, after: Context, operation: Key | None = None) -> LedgerRow:
    """What comes of a context that is sent in the place of another."""
    change = earliest(before, after)
    tariff = prices_of(after.provider, after.model).tariff
    return LedgerRow(
        operation=operation,
        bill=bill(before.sent, after.sent, change and change.tokens, tariff),
        first=change and change.key,
        seals=broken(before, after),
        exact=True,
    )


def rows_of(
    session: Session, query: ContextQuery, context: Context
) -> Sequence[LedgerRow]:
    """A row for each operation that applies or waits, read off the thread."""
    known = _rows_kept.get(context.version) if context.version else None
    if known is not None:
        return known
    thread = query.thread or load_thread(session, query.active_tags)
    edits = load_history(session).log.edits
    applied = [one.number for one in thread.operations if one.status is Status.APPLIED]
    waiting = [
        n for n, recorded in edits.items() if recorded.state is EditState.PROPOSED
    ]
    layers, messages = context.assembly.layers, context.built.messages
    layout = layout_of(thread, layers, messages)
    found = list(first_changes(thread, layout, applied, cut=_is_cut(context)))
    rows = _rows(context, found, waits=False)
    if waiting:
        tried = thread_with(session, query, map(entry_key, waiting))
        rows += _tried(context, tried, {n: edits[n].edit for n in waiting})
    rows.sort(key=lambda row: entry_number(row.operation or "") or 0)
    if context.version:
        _rows_kept.keep(context.version, rows)
    return rows


def _of_bundles(
    session: Session, rows: Iterable[LedgerRow], prices: Prices
) -> dict[BundlePart, LedgerRow]:
    """One row for what several of a bundle's operations come to together."""
    log, parts = (
        load_history(session).log,
        defaultdict[BundlePart, list[LedgerRow]](list),
    )
    for row in rows:
        number = entry_number(row.operation or "") or 0
        bundle = log.at(number).bundle
        if bundle is not None and row.first is not None:
            waits = log.edits[number].state is EditState.PROPOSED
            parts[BundlePart(bundle, waits)].append(row)
    return {
        part: _together(rows, prices, waits=part.waits)
        for part, rows in parts.items()
        if len(rows) > 1
    }


def _together(rows: Sequence[LedgerRow], prices: Prices, *, waits: bool) -> LedgerRow:
    bills = [row.bill for row in rows]
    return LedgerRow(
        operation=None,
        bill=bill_together(bills, prices.tariff, waits=waits),
        first=min(rows, key=lambda row: row.bill.prefix).first,
        seals=tuple(dict.fromkeys(key for row in rows for key in row.seals)),
        exact=False,
        frame=sum(row.frame for row in rows),
    )


def _is_cut(context: Context) -> bool:
    return any(step.left_out for step in context.steps if step.name in _CUTS)


def _tried(
    context: Context, tried: Thread, waiting: Mapping[int, Edit]
) -> list[LedgerRow]:
    """The rows of edits that don't apply in a context, off a thread in which they do."""
    keys = {
        entry_key(number): _frame(context, edit) for number, edit in waiting.items()
    }
    layers, messages = context.assembly.layers, context.built.messages
    layout = layout_of(tried, layers, messages, waiting=keys)
    found = first_changes(tried, layout, waiting, cut=_is_cut(context))
    return _rows(context, found, waits=True)


def _frame(context: Context, edit: Edit) -> int:
    """The tokens that frame a summary in the request."""
    if not isinstance(edit, Digest):
        return 0
    (message,) = edit.messages
    words = "\n\n".join(part.text for part in message.parts if isinstance(part, Text))
    count = context.built.count
    return count((Text(SUMMARY.format(words)),)) - count((Text(words),))


def notes_of(found: Ledger) -> Iterator[RuleNote]:
    """Rules R8, R17 and R18 of docs/ledger.md, where they bear on the figures."""
    context, tariff = found.context, found.prices.tariff
    rows = [*([found.total] if found.total else []), *found.rows]
    if any(row.seals for row in rows):
        yield RuleNote(
            "R8",
            "Signed thinking after the first change is left out of every later request, so the"
            " prefix is rewritten only once.",
        )
    if not tariff.kept(context.sent):
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
    """The tokens before the first result of a tool; None where there is none."""
    tokens = sum(layer.tokens for layer in context.assembly.layers)
    for message in context.built.messages:
        if any(isinstance(part, ToolResult) for part in message.parts):
            return tokens
        tokens += message.tokens
    return None


def _rows(
    context: Context, found: Iterable[FirstChange], *, waits: bool
) -> list[LedgerRow]:
    """The rows of what operations touch: of those that apply, or of those that wait."""
    found = list(found)
    tariff = prices_of(context.provider, context.model).tariff
    seals = {} if waits else first_broken(context, found)
    rows = []
    for touch in found:
        before = context.sent if waits else context.sent + touch.saved
        after = context.sent - touch.saved if waits else context.sent
        prefix = None if touch.key is None else touch.tokens
        rows.append(
            LedgerRow(
                operation=touch.operation,
                bill=bill(before, after, prefix, tariff),
                first=touch.key,
                seals=seals.get(touch.operation, ()),
                exact=False,
                frame=touch.frame,
            )
        )
    return rows


def _exact(
    session: Session, query: ContextQuery, context: Context, operation: Key
) -> LedgerRow:
    """The row of one operation: left out where it applies, tried out where it doesn't."""
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
    """What an edit would come to: in a request, and alone in the thread."""

    row: LedgerRow
    prices: Prices
    saved: int


def try_out(session: Session, edit: Edit) -> Trial:
    """What an edit would come to that isn't recorded. Raises Invalid or Conflict, as recording.

    Its figures are those of the line that the ledger has once it is recorded.
    """
    thread, query = load_thread(session), ContextQuery()
    checked = check(thread, [edit])
    before = assemble_session(session, query)
    after = assemble_session(session, replace(query, thread=checked.thread))
    number = thread.head + 1
    (row,) = _tried(before, checked.thread, {number: checked.edits[0]})
    return Trial(
        replace(row, seals=broken(before, after)),
        prices_of(after.provider, after.model),
        would_save(thread, checked.edits[0]),
    )


class BundleTrial(NamedTuple):
    """What edits would come to together in a request, and for whom that is estimated."""

    provider: str
    model: str
    prices: Prices
    row: LedgerRow


def try_out_bundle(session: Session, edits: Sequence[Edit]) -> BundleTrial:
    """What edits would come to together that aren't recorded. Raises as `try_out`."""
    query = ContextQuery()
    before = assemble_session(session, query)
    checked = check(load_thread(session), edits, bundle=True)
    after = assemble_session(session, replace(query, thread=checked.thread))
    prices = prices_of(before.provider, before.model)
    return BundleTrial(before.provider, before.model, prices, compare(before, after))


def staged_ledger(
    session: Session, caller: Caller, query: ContextQuery
) -> Ledger | None:
    """What committing would come to, against what is sent now; None where nothing is staged."""
    keys = staged_keys(session, caller)
    if not keys:
        return None
    context = assemble_session(session, query)
    prices = prices_of(context.provider, context.model)
    total = compare(context, context_with(session, query, keys))
    return Ledger(context=context, prices=prices, total=total, rows=(), bundles={})
