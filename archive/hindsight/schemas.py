"""Request and response schemas of the hindsight API."""

import uuid
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from archive.domain.hindsight.losses import Loss
from contextstudio.accounts.shape import RequestBody
from operations.domain.tree.key import entry_number
from operations.edits.arguments import AnyEdit
from operations.log.selectors import load_history

from .services import BundleCost, OperationCost, SessionHindsight
from .trials import MAX_SESSIONS

LossKind = Literal["path", "file", "url", "number", "hash", "identifier"]


class HindsightIn(RequestBody):
    """What to try in place of the log's operations: give exactly one of the fields."""

    policy: Annotated[
        dict[str, Any] | None,
        Field(description="A preset, and the settings that differ from it."),
    ] = None
    rules: Annotated[
        dict[str, Any] | None,
        Field(description="Changes to the rules by which the session is pruned."),
    ] = None
    operations: list[AnyEdit] | None = Field(None, min_length=1, max_length=1000)
    """Edits, as they would be recorded."""

    @model_validator(mode="after")
    def _tries_one_thing(self) -> "HindsightIn":
        given = (self.policy, self.rules, self.operations)
        if sum(one is not None for one in given) != 1:
            raise ValueError("give exactly one of policy, rules and operations")
        return self


class TrialIn(RequestBody):
    """A policy to try on the newest sessions of a project."""

    policy: dict[str, Any]
    """A preset, and the settings that differ from it."""
    sessions: int = Field(MAX_SESSIONS, ge=1, le=MAX_SESSIONS)
    """How many of the newest sessions to try it on."""


class TrialStarted(BaseModel):
    """The job that tries a policy.

    Its result is `{sessions, passed_over, sent, pruned}`; `sent` and `pruned` are null, or
    `{tokens: {before, after}, saved_share, references, lost, lost_share}`.
    """

    job_id: uuid.UUID


class LossOut(BaseModel):
    """A reference that was used after it had been left out."""

    text: str
    kind: LossKind
    left_out_in: list[str]
    """Keys of the left-out messages that contain it."""
    used_in: list[str]
    """Keys of the later messages that used it."""


class OperationHindsightOut(BaseModel):
    """What an operation, or a step of a policy, saves and what it lost."""

    operation_id: uuid.UUID | None
    """Null if it is not in the log."""
    key: str
    """The operation's key; in a trial, the key it would get, or the name of the policy's step."""
    tokens_saved: int
    lost: list[LossOut]


class BundleHindsightOut(BaseModel):
    """How many references the operations of a bundle lost; `operations` lists which."""

    bundle_id: uuid.UUID
    operations: list[str]
    """Keys of its operations that leave something out."""
    lost: int
    """The number of distinct references."""


class HindsightTokens(BaseModel):
    """Tokens of the thread before and after leaving something out."""

    before: int
    after: int


class HindsightOut(BaseModel):
    """What was left out and needed later. Counts are of distinct references."""

    session_id: uuid.UUID
    references: int
    """How many references from earlier in the thread were used after something was left out."""
    lost: int
    """How many of them stood in nothing that was still sent."""
    tokens: HindsightTokens
    operations: list[OperationHindsightOut]
    bundles: list[BundleHindsightOut]


def present_hindsight(found: SessionHindsight) -> dict[str, Any]:
    """Hindsight in the form of `HindsightOut`."""
    rows = load_history(found.session).rows if found.session.head else {}
    return {
        "session_id": str(found.session.pk),
        "references": found.references,
        "lost": found.lost,
        "tokens": {"before": found.before, "after": found.after},
        "operations": [_present(one, rows) for one in found.operations],
        "bundles": [_present_bundle(one) for one in found.bundles],
    }


def _present_bundle(cost: BundleCost) -> dict[str, Any]:
    return {
        "bundle_id": cost.id,
        "operations": list(cost.keys),
        "lost": len(cost.losses),
    }


def _present(cost: OperationCost, rows: Any) -> dict[str, Any]:
    row = rows.get(entry_number(cost.key) or 0)
    return {
        "operation_id": str(row.id) if row else None,
        "key": cost.key,
        "tokens_saved": cost.saved,
        "lost": [_present_loss(loss) for loss in cost.losses],
    }


def _present_loss(loss: Loss) -> dict[str, Any]:
    return {
        "text": loss.text,
        "kind": loss.kind.value,
        "left_out_in": list(loss.left_out_in),
        "used_in": list(loss.used_in),
    }
