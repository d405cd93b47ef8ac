"""The rows of a ledger, derived from a thread or from a comparison of two contexts."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from operations.context.comparison import (
    first_broken,
    first_difference,
    newly_broken_signatures,
    thread_with,
)
from operations.context.model_catalog import Prices, prices_of
from operations.context.services import Context, ContextQuery
from operations.domain.context.selection import SLICE
from operations.domain.context.window import WINDOW
from operations.domain.ledger.first_changes import (
    FirstChange,
    first_changes,
    independent_groups,
    layout_of,
)
from operations.domain.ledger.ledger import Bill, bill, bill_of_saving, combined_bill
from operations.domain.log.entry import EditState
from operations.domain.log.operation import (
    Condense,
    Digest,
    Edit,
    Replace,
    Revise,
    Snip,
)
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_key, entry_number
from operations.domain.tree.status import Status
from operations.log.cache import Cache
from operations.log.selectors import load_history, load_thread
from threads.domain.formats.summaries import SUMMARY
from threads.domain.part import Text
from threads.models import Session

_CUTS = (SLICE, WINDOW)
"""Steps that leave whole messages out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """What one operation costs and saves, or several together if `operation` is None."""

    operation: Key | None
    bill: Bill
    first: Key | None
    """The message, fold or layer where the request first changes; None if it doesn't."""
    seals: tuple[Key, ...]
    """Messages whose signed reasoning would be valid without it, and now isn't."""
    exact: bool
    """Whether contexts were compared; otherwise it was derived from the thread."""
    in_the_way: tuple[Key, ...] = ()
    """For a proposal that can't be accepted, the operations that it would cut through."""
    sets_aside: tuple[Key, ...] = ()
    """For a proposal, the later operations that apply now and would be in conflict with it."""
    is_to_save: bool = True
    """Whether its purpose is to save tokens; see `is_to_save`."""
    frame: int = 0
    """How many tokens fewer it saves in the request than in the thread.

    The difference is the frame around its text, or what would not have been sent to the provider
    anyway. It is negative if it saves more, for example by invalidating signed reasoning.
    """


_rows_kept: Cache[Sequence[LedgerRow]] = Cache(lambda rows: 600 * len(rows))


class BundlePart(NamedTuple):
    """The operations of a bundle that wait, or those that apply."""

    bundle: str
    waits: bool


def compare(before: Context, after: Context, operation: Key | None = None) -> LedgerRow:
    """The row for sending one context instead of another."""
    change = first_difference(before, after)
    tariff = prices_of(after.provider, after.model).tariff
    return LedgerRow(
        operation=operation,
        bill=bill(before.sent, after.sent, change and change.tokens, tariff),
        first=change and change.key,
        seals=newly_broken_signatures(before, after),
        exact=True,
    )


def rows_of(
    session: Session, query: ContextQuery, context: Context
) -> Sequence[LedgerRow]:
    """A row for each operation that applies or waits, derived from the thread."""
    known = _rows_kept.get(context.version) if context.version else None
    if known is not None:
        return known
    thread = query.thread or load_thread(session, query.active_tags)
    log = load_history(session).log
    edits = log.edits
    applied = [one.number for one in thread.reports if one.status is Status.APPLIED]
    waiting = [
        n for n, recorded in edits.items() if recorded.state is EditState.PROPOSED
    ]
    layers, messages = context.assembly.layers, context.built.messages
    hidden = _hidden_frames(context, thread)
    layout = layout_of(thread, layers, messages, hidden=hidden)
    found = list(first_changes(thread, layout, applied, cut=_is_cut(context)))
    rows = _rows(context, found, {n: edits[n].edit for n in applied}, waits=False)
    bundles = {n: bundle for n in waiting if (bundle := log.at(n).bundle)}
    for part in independent_groups({n: edits[n].edit for n in waiting}, bundles):
        tried = thread_with(session, query, map(entry_key, part))
        aside = _set_aside(thread, tried)
        rows += [
            replace(row, sets_aside=tuple(aside.get(row.operation or "", ())))
            for row in rows_tried(context, tried, {n: edits[n].edit for n in part})
        ]
    rows.sort(key=lambda row: entry_number(row.operation or "") or 0)
    if context.version:
        _rows_kept.keep(context.version, rows)
    return rows


def bundles_of(
    session: Session, rows: Iterable[LedgerRow], prices: Prices
) -> dict[BundlePart, LedgerRow]:
    """Map of bundle part to one row for its operations together, if there are several."""
    log = load_history(session).log
    parts: dict[BundlePart, list[LedgerRow]] = defaultdict(list)
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
    together = combined_bill(bills, prices.tariff, waits=waits)
    saved = sum(one.saved for one in bills)
    return LedgerRow(
        operation=None,
        bill=together,
        first=min(rows, key=lambda row: row.bill.prefix).first,
        seals=tuple(dict.fromkeys(key for row in rows for key in row.seals)),
        exact=False,
        is_to_save=any(row.is_to_save for row in rows),
        frame=sum(row.frame for row in rows) + saved - together.saved,
    )


def is_to_save(edit: Edit, saved: int) -> bool:
    """Whether the purpose of an edit, which saves `saved` tokens, is to save tokens.

    A revise or a replace is meant to save if it does; an insert, a move or a redaction has other
    reasons.
    """
    if isinstance(edit, Revise | Replace):
        return saved > 0
    return isinstance(edit, Digest | Snip | Condense)


def _is_cut(context: Context) -> bool:
    return any(step.left_out for step in context.steps if step.name in _CUTS)


def rows_tried(
    context: Context, tried: Thread, waiting: Mapping[int, Edit]
) -> list[LedgerRow]:
    """The rows of edits that don't apply in a context, derived from a thread in which they do."""
    keys = {
        entry_key(number): _frame(context, edit) for number, edit in waiting.items()
    }
    layers, messages = context.assembly.layers, context.built.messages
    hidden = _hidden_frames(context, tried, keys)
    layout = layout_of(tried, layers, messages, waiting=keys, hidden=hidden)
    found = first_changes(tried, layout, waiting, cut=_is_cut(context))
    rows = _rows(context, found, waiting, waits=True)
    return [replace(row, in_the_way=_in_the_way(tried, row.operation)) for row in rows]


def _in_the_way(tried: Thread, key: Key | None) -> tuple[Key, ...]:
    """The operations that keep a proposal from being accepted.

    Other proposals don't count unless they are in its bundle, as they may never be accepted.
    """
    number = entry_number(key or "") or 0
    report, log = tried.report(number), tried.log
    if report.status is not Status.CONFLICT:
        return ()
    bundle = log.at(number).bundle
    return tuple(
        other
        for other in report.operations
        if (recorded := log.edit(other))
        and (
            recorded.state is not EditState.PROPOSED
            or (bundle is not None and recorded.entry.bundle == bundle)
        )
    )


def _set_aside(thread: Thread, tried: Thread) -> Mapping[Key, list[Key]]:
    """Map of operation to those it sets aside in `tried` that apply in `thread`."""
    found: dict[Key, list[Key]] = defaultdict(list)
    for report in tried.reports:
        if (
            report.status is Status.CONFLICT
            and thread.report(report.number).status is Status.APPLIED
        ):
            for other in report.operations:
                found[other].append(report.key)
    return found


def _frame(context: Context, edit: Edit) -> int:
    """The tokens of the frame around a summary in the request."""
    if not isinstance(edit, Digest):
        return 0
    (message,) = edit.messages
    words = "\n\n".join(part.text for part in message.parts if isinstance(part, Text))
    count = context.built.count
    return count((Text(SUMMARY.format(words)),)) - count((Text(words),))


def _hidden_frames(
    context: Context, thread: Thread, waiting: Collection[Key] = ()
) -> Mapping[Key, int]:
    """Map of folds at the top to the frames of the digests in them, which a request is spared.

    The digests of operations that wait don't count: a request has no frame for them.
    """
    frames = Counter[Key]()
    for report in thread.reports:
        edit, key = thread.log.edits[report.number].edit, report.key
        applies = report.status is Status.APPLIED and key not in waiting
        if applies and isinstance(edit, Digest):
            around = thread.path(key)
            if len(around) == 1:
                frames[around[0]] += _frame(context, edit)
    return frames


def _rows(
    context: Context,
    found: Iterable[FirstChange],
    edits: Mapping[int, Edit],
    *,
    waits: bool,
) -> list[LedgerRow]:
    """The rows for these first changes, of operations that all apply or all wait."""
    found = list(found)
    tariff = prices_of(context.provider, context.model).tariff
    seals = {} if waits else first_broken(context, found)
    rows = []
    for touch in found:
        prefix = None if touch.key is None else touch.tokens
        billed = bill_of_saving(context.sent, touch.saved, prefix, tariff, waits=waits)
        rows.append(
            LedgerRow(
                operation=touch.operation,
                bill=billed,
                first=touch.key,
                seals=seals.get(touch.operation, ()),
                exact=False,
                is_to_save=is_to_save(
                    edits[entry_number(touch.operation) or 0], touch.saved
                ),
                frame=touch.frame + touch.saved - billed.saved,
            )
        )
    return rows
