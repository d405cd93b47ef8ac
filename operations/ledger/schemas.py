"""API schemas of the ledger: what operations cost once and save each turn."""

import uuid
from collections.abc import Sequence
from typing import Annotated, Any

from ninja.params.functions import Query
from pydantic import BaseModel

from operations.context.model_catalog import Prices
from operations.domain.tree.key import Key, entry_number
from operations.log.selectors import History
from threads.models import Session

from .rows import LedgerRow
from .services import Ledger, notes_of

LedgerProvider = Annotated[
    str, Query(description="The provider to count for; by default the session's.")
]
LedgerModel = Annotated[
    str, Query(description="The model whose prices are used; by default the session's.")
]


class PricesOut(BaseModel):
    """The prices that were used, in dollars per token; null where none is known."""

    model: str | None
    """The model's name in the price list; null if it isn't listed."""
    input: float | None
    """Input that isn't cached."""
    write: float | None
    """Input written to the provider's cache."""
    read: float | None
    """Input read from the provider's cache."""
    minimum: int | None
    """Tokens of the shortest prefix that the provider caches; null if it caches nothing."""
    block: int
    """Prefixes are cached in multiples of this many tokens."""
    estimated: list[str]
    """Values that aren't listed and were estimated: `prices`, `read`, `write`, `minimum`."""


class BillTokens(BaseModel):
    """Tokens of a request before and after. `kept` + `rewritten` + `uncached` = `after`."""

    before: int
    after: int
    saved: int
    prefix: int
    """Tokens before the earliest change."""
    kept: int
    """Tokens that are still read from the provider's cache."""
    rewritten: int
    """Tokens that are written to the cache once more."""
    uncached: int
    """Tokens that the provider doesn't cache."""


class CostOut(BaseModel):
    """Costs in dollars."""

    once: float
    """What it costs once: writing to the cache what would have been read from it."""
    per_turn: float
    """What it saves with each turn; negative if a turn costs more."""


class BillOut(BaseModel):
    """What operations cost and save."""

    first: str | None
    """Key of the message, fold or layer where the request first changes; null if it doesn't."""
    tokens: BillTokens
    cost: CostOut | None
    """Null if no price is known."""
    turns: int | None
    """After how many turns it has paid for itself; null for never."""
    seals: list[str]
    """Keys of messages whose signed reasoning it invalidates."""
    exact: bool
    """Whether two contexts were compared; otherwise the figures are derived from the thread."""


class RowOut(BillOut):
    """What one operation costs and saves."""

    key: str
    operation_id: uuid.UUID
    type: str
    status: str


class BundleRowOut(BillOut):
    """What several operations of one bundle cost and save together."""

    bundle_id: uuid.UUID
    waits: bool
    """True for the operations that wait for a decision, false for those that apply."""


class NoteOut(BaseModel):
    """What one of the provider's rules means for these figures."""

    rule: str
    detail: str


class StagedOut(BaseModel):
    """The caller's staged edits, and what committing all of them would cost and save."""

    session_id: uuid.UUID
    head: int
    bundle_id: uuid.UUID | None
    operations: list[str]
    """Keys of the staged edits, in log order."""
    prices: PricesOut | None
    total: BillOut | None
    """Null if nothing is staged."""


class LedgerOut(BaseModel):
    """The ledger of a session."""

    session_id: uuid.UUID
    head: int
    provider: str
    model: str
    sent: int
    """Tokens that are sent now."""
    prices: PricesOut
    total: BillOut | None
    """All operations together, compared with the originals."""
    operations: list[RowOut]
    bundles: list[BundleRowOut]
    notes: list[NoteOut]


def present_ledger(found: Ledger, history: History) -> dict[str, Any]:
    """A ledger in the form of `LedgerOut`."""
    context = found.context
    return {
        "session_id": str(context.session.pk),
        "head": context.session.head,
        "provider": context.provider,
        "model": context.model,
        "sent": context.sent,
        "prices": _present_prices(found.prices, context.sent),
        "total": found.total and present_bill(found.total, found.prices),
        "operations": [_present_row(row, found, history) for row in found.rows],
        "bundles": [
            {
                "bundle_id": part.bundle,
                "waits": part.waits,
                **present_bill(row, found.prices),
            }
            for part, row in found.bundles.items()
        ],
        "notes": [note._asdict() for note in notes_of(found)],
    }


def present_staged(
    session: Session, keys: Sequence[Key], found: Ledger | None, history: History
) -> dict[str, Any]:
    """What is staged, in the form of `StagedOut`."""
    last = history.rows[entry_number(keys[-1]) or 0] if keys else None
    total = found.total if found else None
    return {
        "session_id": str(session.pk),
        "head": session.head,
        "bundle_id": str(last.bundle) if last else None,
        "operations": list(keys),
        "prices": _present_prices(found.prices, found.context.sent) if found else None,
        "total": present_bill(total, found.prices) if found and total else None,
    }


def present_bill(row: LedgerRow, prices: Prices) -> dict[str, Any]:
    """What operations cost and save, in the form of `BillOut`."""
    bill = row.bill
    cost = {"once": float(bill.once), "per_turn": float(bill.per_turn)}
    return {
        "first": row.first,
        "tokens": {name: getattr(bill, name) for name in BillTokens.model_fields},
        "cost": cost if prices.model else None,
        "turns": bill.turns,
        "seals": list(row.seals),
        "exact": row.exact,
    }


def _present_row(row: LedgerRow, found: Ledger, history: History) -> dict[str, Any]:
    number = entry_number(row.operation or "") or 0
    return {
        "key": row.operation,
        "operation_id": str(history.rows[number].id),
        "type": history.log.edits[number].edit.kind,
        "status": found.context.thread.report(number).status,
        **present_bill(row, found.prices),
    }


def _present_prices(prices: Prices, tokens: int) -> dict[str, Any]:
    price = prices.tariff.price(tokens)
    return {
        "model": prices.model or None,
        **{
            name: float(value) if prices.model else None
            for name, value in price._asdict().items()
        },
        "minimum": prices.tariff.minimum,
        "block": prices.tariff.block,
        "estimated": list(prices.estimated),
    }
