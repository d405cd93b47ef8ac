"""Policies: the settings for the steps between the thread and what is sent."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any

from contextstudio.accounts.domain.errors import Invalid, unknown_name
from contextstudio.accounts.domain.storable import storable

from .truncation import Keep, Tiers


class Memos(StrEnum):
    """Which memos are sent as a layer."""

    OWN = "own"
    """The session's memos, once it has saved or retrieved one."""
    RELEVANT = "relevant"
    """Memos that share keywords with the user's last message."""
    NONE = "none"


def _require_at_least_0(value: float, *at: str) -> None:
    if value < 0:
        raise Invalid(f"{at[-1]} can't be less than 0.", at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """When and how a session is shortened. Lengths are in tokens."""

    large_window: int = 200_000
    """Windows above this are full when `remaining_tokens` are left, others at `remaining_share`."""
    remaining_tokens: int = 20_000
    remaining_share: float = 0.2
    keep_last_n: int = 10
    condense_after_n: int = 5
    remove_errors_after: int = 5
    condense_above: int = 500
    """Assistant messages longer than this are condensed."""
    condense_calls_above: int = 200
    """In assistant messages longer than this, the long texts of calls are condensed once their
    results are."""
    name_used_later: bool = True
    """Whether the line that replaces a text lists names in it that remaining messages refer to."""
    likely_names: int = 40
    """How many names that may be needed later are listed beside those the assistant used (0:
    none)."""
    protect_tools: tuple[str, ...] = ()
    """Tools whose results are kept, and paths whose views are kept: patterns with `*`."""
    protect_paths: tuple[str, ...] = ()
    protect_tags: tuple[str, ...] = ("pinned",)
    keep_relevant_above: float | None = None
    """Keep messages whose relevance to the objective is above this share, 0 to 1. None: no such
    rule."""
    automatic: bool = True
    """Whether pruning runs by itself before a request that would be too long."""

    def __post_init__(self) -> None:
        """Raise Invalid for negative values, and for shares above 1."""
        for one in fields(self):
            value = getattr(self, one.name)
            if value is not None and not isinstance(value, tuple):
                _require_at_least_0(value, "pruning", one.name)
        for name in ("remaining_share", "keep_relevant_above"):
            if (getattr(self, name) or 0) > 1:
                raise Invalid(
                    f"{name} must be a number from 0 to 1.", at=["pruning", name]
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The settings of a session's context. The default, `replay`, changes nothing."""

    preset: str = "replay"
    """The name of the preset, or `custom`."""
    window: int = 0
    """How many of the last groups are sent; 0: all."""
    isolation: bool = False
    """Whether calls and results of other strategies are left out."""
    truncation: Tiers | None = None
    guidelines: bool = False
    """Whether a layer tells the model how to read the history and to keep STATE."""
    memos: Memos = Memos.OWN
    markers: bool = False
    """Whether folds are sent with a marker before and one after what they show."""
    pruning: Pruning | None = None
    fails_open: bool = True
    """Whether the proxy passes a request on unchanged if it can't be rewritten, or else refuses
    it. While a redaction is in force, such a request is refused in any case."""

    def __post_init__(self) -> None:
        """Raise Invalid for a negative window."""
        _require_at_least_0(self.window, "window")

    @property
    def leaves_out(self) -> bool:
        """Whether the policy may leave messages of the thread out of a request."""
        return bool(self.window or self.isolation or self.truncation)


REPLAY = Policy()
SLOP = Policy(
    preset="slop",
    isolation=True,
    truncation=Tiers(),
    guidelines=True,
    memos=Memos.RELEVANT,
)
NEXORA = Policy(preset="nexora", pruning=Pruning())
PRESETS: Mapping[str, Policy] = {one.preset: one for one in (REPLAY, SLOP, NEXORA)}
CUSTOM = "custom"
_NESTED: Mapping[str, type[Tiers] | type[Pruning]] = {
    "truncation": Tiers,
    "pruning": Pruning,
}
_MAY_BE_NONE = frozenset({"keep_relevant_above"})
_CHOICES: Mapping[str, type[Keep] | type[Memos]] = {"keep": Keep, "memos": Memos}


def encode_policy(policy: Policy) -> dict[str, Any]:
    """A policy as JSON."""
    return asdict(policy)


def encode_pruning(pruning: Pruning) -> dict[str, Any]:
    """The pruner's settings as JSON."""
    return asdict(pruning)


def read_pruning(given: Mapping[str, Any], base: Pruning) -> Pruning:
    """Return `base` with the settings named in JSON changed. Raises Invalid with the place."""
    changes = {name: _read(base, name, value, "rules") for name, value in given.items()}
    return replace(base, **changes)


def read_policy(given: Mapping[str, Any]) -> Policy:
    """Read a policy from JSON: a preset, with the other named settings changed.

    Raises Invalid with the place of an unknown setting or an impossible value.
    """
    named = given.get("preset", CUSTOM)
    if named not in [*PRESETS, CUSTOM]:
        raise Invalid(unknown_name("preset", named, [*PRESETS, CUSTOM]), at=["preset"])
    base = PRESETS.get(named, REPLAY)
    changes = {
        name: _read(base, name, value)
        for name, value in given.items()
        if name != "preset"
    }
    policy = replace(base, **changes)
    same = (
        one for one in PRESETS.values() if replace(policy, preset=one.preset) == one
    )
    return next(same, replace(policy, preset=CUSTOM))


def _read(base: Any, name: str, value: Any, *at: str) -> Any:
    """The value of one setting, checked against its type in `base`."""
    place = [*at, name]
    known = [one.name for one in fields(base)]
    if name not in known:
        raise Invalid(unknown_name("setting", name, known), at=place)
    if name in _NESTED:
        return _read_nested(base, name, value)
    if choice := _CHOICES.get(name):
        if value not in list(choice):
            raise Invalid(f"{name} must be one of {', '.join(choice)}.", at=place)
        return choice(value)
    current = getattr(base, name)
    if isinstance(current, bool):
        if not isinstance(value, bool):
            raise Invalid(f"{name} must be true or false.", at=place)
        return value
    if isinstance(current, tuple):
        return _read_texts(name, value, place)
    return _read_number(name, current, value, place)


def _read_number(name: str, current: Any, value: Any, place: list[str]) -> Any:
    if name in _MAY_BE_NONE and (value is None or isinstance(value, float)):
        return value
    if isinstance(value, bool) or not isinstance(value, int | type(current)):
        raise Invalid(f"{name} must be a number.", at=place)
    return value


def _read_texts(name: str, value: Any, place: list[str]) -> tuple[str, ...]:
    is_list = isinstance(value, list | tuple)
    if not is_list or not all(isinstance(item, str) and item for item in value):
        raise Invalid(f"{name} must be a list of strings.", at=place)
    for number, item in enumerate(value):
        if storable(item) != item:
            sentence = f"{name} must not hold NUL or half a surrogate pair."
            raise Invalid(sentence, at=[*place, number])
    return tuple(dict.fromkeys(value))


def _read_nested(base: Policy, name: str, value: Any) -> Any:
    if value is None or value is False:
        return None
    current = getattr(base, name) or _NESTED[name]()
    if value is True:
        return current
    if not isinstance(value, Mapping):
        raise Invalid(f"{name} must be an object, or null for none.", at=[name])
    changes = {
        inner: _read(current, inner, given, name) for inner, given in value.items()
    }
    return replace(current, **changes)
