"""What operations cost and save, in sentences for the drawer, which requests them when shown."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from operations.context.model_catalog import Prices
from operations.context.services import MAX_UNASKED
from operations.domain.ledger.money import dollars
from operations.domain.providers import PROVIDERS
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_number
from operations.domain.tree.status import Status
from operations.edits.own_entries import staged_keys
from operations.log.selectors import load_thread
from operations.messages.names import names_of
from threads.rendering.hidden import visible
from threads.store.selectors import get_session

from .rows import LedgerRow
from .services import BundleTrial, LedgerEstimate, estimate


@require_safe
def lines(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """A line for each operation that applies or waits, and one for all that is staged.

    For a long session, a button that requests them, unless `asked` is given.
    """
    caller = caller_of(request)
    session = get_session(caller, session_id)
    if session.message_count > MAX_UNASKED and not request.GET.get("asked"):
        return render(request, "operations/ledger/ledger.html", {"may_ask": True})
    found = estimate(session, staged_keys(session, caller))
    thread = load_thread(session)
    waiting = frozenset(
        report.key for report in thread.reports if report.status is Status.PROPOSED
    )
    told = warned_lines(thread, found.rows, lines_of(found, waiting))
    context = {"lines": told, "note": note_of(found)}
    return render(request, "operations/ledger/ledger.html", context)


STAGED = "staged"
"""The key of the line for all that is staged; other lines have the key of an operation."""
_WAITING = "waiting-"
"""Prefix of a bundle's id for the line about its waiting operations."""
_IF_APPLIED = "If applied: "
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """What an operation, or several together, cost and save.

    `never` marks a warning: it is meant to save and never breaks even, can't be accepted, or sets
    others aside.
    """

    key: str
    text: str
    never: bool


def lines_of(found: LedgerEstimate, waiting: frozenset[Key]) -> list[LedgerLine]:
    """A line for each operation that changes what is sent, each bundle, and all that is staged."""
    prices = found.prices
    lines = [
        line_of(row, prices, lead=_IF_APPLIED if row.operation in waiting else "")
        for row in found.rows
        if row.first is not None
    ]
    lines += [
        line_of(
            row,
            prices,
            key=f"{_WAITING if part.waits else ''}{part.bundle}",
            lead=_IF_APPLIED if part.waits else "",
        )
        for part, row in found.bundles.items()
    ]
    if found.together is not None:
        lines.append(line_of(found.together, prices, key=STAGED, lead="Together: "))
    return lines


def warned_lines(
    thread: Thread, rows: Sequence[LedgerRow], lines: Sequence[LedgerLine]
) -> list[LedgerLine]:
    """The lines, with what accepting a proposal would set aside, or why it can't be accepted.

    The line of the proposal's bundle says so too.
    """
    told = {line.key: line for line in lines}
    refused: Counter[str] = Counter()
    aside: dict[str, dict[Key, None]] = defaultdict(dict)

    for row in rows:
        key = row.operation or ""
        bundle = thread.log.at(entry_number(key) or 0).bundle
        together = f"{_WAITING}{bundle}" if bundle else ""
        if row.in_the_way:
            text = f"Can't be accepted: it would cut through {names_of(thread, row.in_the_way)}"
            told[key] = LedgerLine(key, text, never=True)
            refused[together] += 1
        elif row.sets_aside:
            _add(told, key, f"Sets aside {names_of(thread, row.sets_aside)}")
            aside[together].update(dict.fromkeys(row.sets_aside))
    for key, count in refused.items():
        _add(told, key, f"{count:,} can't be accepted")
    for key, keys in aside.items():
        _add(told, key, f"Sets aside {names_of(thread, keys)}")
    told.pop("", None)  # from operations without a bundle
    return list(told.values())


def _add(told: dict[str, LedgerLine], key: str, sentence: str) -> None:
    said = f"{told[key].text}. " if key in told else ""
    told[key] = LedgerLine(key, said + sentence, never=True)


def note_of(found: LedgerEstimate | BundleTrial) -> str:
    """The provider and model for which the lines are estimated, and the prices used."""
    label, prices = PROVIDERS[found.provider].label, found.prices
    if not prices.model:
        model = visible(found.model) or "its model"
        shares = "turns assume the provider's usual prices"
        if prices.tariff.minimum is None:
            shares = "no caching is assumed"
        return f"Estimated for {label}; the price of {model} is unknown, {shares}."
    token, write, read = (dollars(one * MILLION) for one in prices.tariff.price(0))
    guessed = [one for one in prices.estimated if one != "minimum"]
    text = f"Estimated for {label}, {prices.model}: {token} per million tokens"
    if prices.tariff.minimum is None:
        return f"{text}, without caching."
    text += f", {write} to write them to its cache, {read} to read them from it"
    return f"{text} (estimated: {', '.join(guessed)})." if guessed else f"{text}."


def line_of(
    row: LedgerRow, prices: Prices, *, key: str = "", lead: str = ""
) -> LedgerLine:
    """The line of one operation, or of several together with `key`; it starts with `lead`."""
    parts = list(_parts(row, prices))
    if row.seals:
        count = len(row.seals)
        answers = "1 answer" if count == 1 else f"{count:,} answers"
        parts.append(f"drops signed thinking from {answers}")
    text = ", ".join(parts)
    return LedgerLine(
        key=row.operation or key,
        text=lead + text if lead else text[:1].upper() + text[1:],
        never=row.is_to_save and row.bill.turns is None,
    )


def _parts(row: LedgerRow, prices: Prices) -> Iterator[str]:
    bill = row.bill
    if bill.rewritten:
        yield f"rewrites {bill.rewritten:,} tokens once{_cost(bill.once, prices)}"
    if bill.saved or row.is_to_save:
        yield _each_turn(row, prices)
    else:
        yield "adds nothing per turn"
    if bill.turns is None:
        if row.is_to_save:
            yield "never breaks even"
    elif bill.turns > 1:
        yield f"breaks even after {bill.turns:,} turns"
    elif bill.saved:
        yield "breaks even at once" if bill.turns == 0 else "breaks even after 1 turn"


def _each_turn(row: LedgerRow, prices: Prices) -> str:
    bill, frame = row.bill, _frame(row)
    cost = _cost(abs(bill.per_turn), prices, frame)
    if bill.saved > 0 > bill.per_turn:
        return f"saves {bill.saved:,} per turn, but is then too short to cache{cost}"
    if bill.saved:
        verb = "saves" if bill.saved > 0 else "adds"
        return f"{verb} {abs(bill.saved):,} per turn{cost}"
    return f"saves nothing ({frame})" if frame else "saves nothing"


def _frame(row: LedgerRow) -> str:
    """How the saving in a request differs from that in the thread; see `LedgerRow.frame`."""
    word = "less" if (row.frame > 0) == (row.bill.saved >= 0) else "more"
    return f"{abs(row.frame):,} {word} than in the thread" if row.frame else ""


def _cost(amount: Fraction, prices: Prices, note: str = "") -> str:
    """The amount, if prices are known, and the note, in one pair of brackets."""
    said = "; ".join(filter(None, [dollars(amount) if prices.model else "", note]))
    return f" ({said})" if said else ""
