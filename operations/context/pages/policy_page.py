"""The page of a policy: see `templates/operations/context/policy.html` and `effect.html`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from operations.context.services import Context, Effect
from operations.domain.context.policy import PRESETS
from operations.domain.context.step import Step
from operations.domain.providers.request import Severity

from .context_page import NAMES

TITLES = {
    "replay": "Everything",
    "slop": "Lean",
    "nexora": "With pruning",
    "custom": "Custom",
}
"""What people read a preset called; its name is what is stored and what the API takes."""
_WORDS = {
    "replay": "Sends the whole thread; nothing is left out.",
    "slop": "Shorter tool results, isolation, guidelines, and memos that fit the question.",
    "nexora": "Sends the whole thread, with thresholds for pruning it.",
}


@dataclass(frozen=True, slots=True)
class Preset:
    """A policy to begin with."""

    name: str
    title: str
    words: str
    is_in_force: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange:
    """A step under both policies; None: the policy has no such step."""

    name: str
    before: int | None
    after: int | None
    left_out: int
    """Tokens that the new policy leaves out here."""
    messages: int
    """Of how many messages or folds."""
    added: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a policy changes, in tokens."""

    total: int
    shown: int
    before: int
    after: int
    changes: Sequence[PolicyChange]
    repaired: int
    repaired_before: int
    """How many rules of the provider had to be seen to."""

    @property
    def difference(self) -> int:
        """What would be sent more; less than 0 where it is less."""
        return self.after - self.before


def presets_of(current: str) -> list[Preset]:
    """What a policy can begin with."""
    return [
        Preset(name, TITLES[name], _WORDS[name], name == current) for name in PRESETS
    ]


def effect_shown(effect: Effect) -> Shown:
    """The figures of an effect."""
    before, after = effect
    return Shown(
        total=after.assembly.total,
        shown=after.assembly.shown,
        before=before.sent,
        after=after.sent,
        changes=list(_changes(before, after)),
        repaired=_repaired(after),
        repaired_before=_repaired(before),
    )


def _changes(before: Context, after: Context) -> Iterator[PolicyChange]:
    old, new = _by_name(before), _by_name(after)
    for name, title in NAMES.items():
        was, is_now = old.get(name), new.get(name)
        if was is None and is_now is None:
            continue
        left_out = is_now.left_out if is_now else ()
        yield PolicyChange(
            name=title,
            before=was.after if was else None,
            after=is_now.after if is_now else None,
            left_out=sum(omission.tokens for omission in left_out),
            messages=len(left_out),
            added=is_now.added if is_now else 0,
        )


def _by_name(context: Context) -> Mapping[str, Step]:
    return {step.name: step for step in context.steps}


def _repaired(context: Context) -> int:
    issues = context.compiled.issues
    return sum(issue.severity is not Severity.NOTE for issue in issues)
