"""Request and response schemas of the pruning API."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from archive.domain.pruning.classes import Protected
from archive.domain.pruning.plan import PruneItem
from archive.domain.reference import write_reference
from archive.entries.services import regret_of
from contextstudio.accounts.shape import RequestBody
from operations.domain.context.policy import encode_pruning
from operations.ledger.schemas import BillOut, present_bill
from threads.models import Session

from .automatic import trigger_of
from .services import Pruned, PruneQuery, rules_of


class ProtectIn(RequestBody):
    """What a run doesn't change, besides what the rules protect. Tools and paths may hold `*`."""

    keys: list[str] = Field(default=[], max_length=10_000)
    tools: list[str] = Field(default=[], max_length=200)
    paths: list[str] = Field(default=[], max_length=200)
    tags: list[str] = Field(default=[], max_length=200)


def _of_keys(given: Any) -> Any:
    return {"keys": given} if isinstance(given, list) else given


Protect = Annotated[
    ProtectIn | None,
    BeforeValidator(_of_keys, json_schema_input_type=ProtectIn | list[str] | None),
]
"""What a run leaves alone; a plain list holds message keys."""


class PruneIn(RequestBody):
    """A run of the pruner."""

    dry_run: bool = False
    """Whether to record nothing and only return what the run would do."""
    rules: dict[str, Any] | None = Field(
        None, description="Rules that differ from the session's, for this run only."
    )
    target_tokens: int | None = Field(
        None,
        ge=0,
        description="Prune only as much as brings the thread down to this, least harmful first.",
    )
    protect: Protect = Field(
        None,
        description="Keys of messages to leave as they are, or `{keys, tools, paths, tags}`.",
    )
    expected_head: int | None = Field(None, ge=0)
    """Refuse (409) if the log has grown beyond this entry."""

    @property
    def query(self) -> PruneQuery:
        """The request as the service takes it."""
        given = self.protect or ProtectIn()
        protected = Protected(
            tools=tuple(given.tools),
            paths=tuple(given.paths),
            tags=tuple(given.tags),
        )
        return PruneQuery(
            rules=self.rules,
            target_tokens=self.target_tokens,
            protected=protected,
            protected_keys=given.keys,
        )


class PruneItemOut(BaseModel):
    """What a run does to one message."""

    key: str
    prune_class: Literal["keep", "condense", "remove"] = Field(alias="class")
    """What becomes of the message."""
    reason: str
    rule: str | None
    """The rule that decided; null if none did."""
    tokens: int
    tokens_after: int
    ref_id: str | None = None
    """The reference that recalls it; null for a message that is kept."""


class PruneOut(BaseModel):
    """The result of a run."""

    items: list[PruneItemOut]
    tokens_before: int
    tokens_after: int
    tokens_saved: int
    condensed: int
    """How many messages were condensed."""
    removed: int
    """How many messages were removed."""
    first_changed: str | None
    """Key of the first message that changes; null if none does."""
    fits: bool | None = None
    """Whether the thread is as short as requested; null without `target_tokens`."""
    bill: BillOut | None = None
    """For a dry run, what it would save and cost in a request, as in the ledger."""
    bundle_id: str | None = None
    """The bundle that was recorded; null if nothing was."""
    status: Literal["applied", "proposed"] | None = None
    """A proposal changes nothing until it is accepted; null if nothing was recorded."""
    head: int
    rules: dict[str, Any]


class RegretOut(BaseModel):
    """How much of what a pruning rule left out was recalled later."""

    rule: str
    archived: int
    """How many entries it archived."""
    recalled: int
    """How many of them were recalled at least once."""
    recalls: int
    """How often they were recalled in total."""


class TriggerOut(BaseModel):
    """How full the model's context window would be with the thread as it is. Figures in tokens."""

    model: str
    window: int | None
    """The size of the window; null if it isn't known for this model."""
    projected: int
    """What the thread takes up."""
    remaining: int | None
    threshold: int
    """The session is due for pruning once no more than this remains."""
    due: bool
    sentence: str
    """All of this in words."""


class RulesOut(BaseModel):
    """The pruner's rules in force."""

    rules: dict[str, Any]
    own: bool
    """Whether the session's policy sets rules of its own; otherwise they are the defaults."""
    trigger: TriggerOut
    regret: list[RegretOut]
    """What was recalled of what each rule left out."""


class RulesIn(RequestBody):
    """Changes to the pruning rules; rules left out stay as they are."""

    rules: dict[str, Any]


def present_rules(session: Session, *, own: bool) -> dict[str, Any]:
    found = trigger_of(session)
    return {
        "rules": encode_pruning(rules_of(session)),
        "own": own,
        "trigger": {
            "model": session.model,
            "window": found.window,
            "projected": found.projected,
            "remaining": found.remaining,
            "threshold": found.threshold,
            "due": found.is_due,
            "sentence": found.sentence(session.model),
        },
        "regret": [one._asdict() for one in regret_of(session)],
    }


def present_pruned(pruned: Pruned, target: int | None = None) -> dict[str, Any]:
    planned = pruned.plan
    classes = [item.prune_class.value for item in planned.items]
    slug, session_id = pruned.session.project.slug, str(pruned.session.pk)
    bundle = pruned.bundle_id
    recorded, trial = pruned.transaction, pruned.trial
    status = "proposed" if pruned.is_proposal else "applied"
    return {
        "items": [_present_item(item, slug, session_id) for item in planned.items],
        "tokens_before": planned.tokens_after + planned.tokens_saved,
        "tokens_after": planned.tokens_after,
        "tokens_saved": planned.tokens_saved,
        "condensed": classes.count("condense"),
        "removed": classes.count("remove"),
        "first_changed": planned.first_changed,
        "fits": None if target is None else planned.tokens_after <= target,
        "bill": present_bill(trial.row, trial.prices) if trial else None,
        "bundle_id": str(bundle) if bundle else None,
        "status": status if recorded else None,
        "head": recorded.session.head if recorded else pruned.session.head,
        "rules": encode_pruning(pruned.rules),
    }


def _present_item(item: PruneItem, slug: str, session_id: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "key": item.key,
        "class": item.prune_class.value,
        "reason": f"{item.reason} in {item.by}" if item.by else item.reason,
        "rule": item.rule.value if item.rule else None,
        "tokens": item.tokens,
        "tokens_after": item.tokens_after,
    }
    if item.stashed:
        stashed = item.stashed[0]
        location = stashed.location if len(item.stashed) == 1 else None
        found["ref_id"] = write_reference(slug, session_id, stashed.name, location)
    return found
