"""The context of a session: what would be sent to a model now."""

import uuid
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid, unknown_name
from operations.domain.context.assembly import Assembly
from operations.domain.context.policy import Policy, read_policy
from operations.domain.context.step import Step
from operations.domain.providers import PROVIDERS
from operations.domain.providers.request import Compiled, Outgoing
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.log.cache import Cache
from operations.log.selectors import load_thread
from operations.messages.reader import MessageReader
from threads.domain.part import File, Image, ToolResult
from threads.models import Session
from threads.store.selectors import get_session

from .inputs import ContextInputs, basis_of, inputs_of
from .pipeline import BuiltRequest, build
from .policies import default_policy

MAX_UNASKED = 2_000
"""In sessions with more messages than this, a page makes contexts only when somebody asks for
them, so that the next edit never waits for one that nobody looks at."""
HEAVIEST = 5
"""How many ranges are named if a context is over its budget."""
MAX_KEPT = 40_000
"""The most messages of a cached context. Longer ones are not cached, nor are those with images or
files, whose bytes the request contains."""
_MEDIA = (Image, File)
_PROVIDERS_OF = {"gemini_gca": "gemini"}
_kept: Cache[BuiltRequest] = Cache(lambda built: 900 * len(built.assembly.messages))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuery:
    """A query for a context. `policy` is tried instead of the one in force."""

    provider: str = ""
    """Empty means the provider that the session was recorded with."""
    model: str = ""
    active_tags: frozenset[str] | None = None
    max_tokens: int | None = None
    actor: str = ""
    """The actor whose pending slice is shown; set by `assemble`."""
    can_recall: bool | None = None
    """Whether the model can recall; None means as in the session's last request."""
    policy: Policy | None = None
    thread: Thread | None = None
    """Used instead of the session's own thread, for comparisons."""
    basis: Hashable = None
    """Everything besides the session that `thread` depends on, if its context is worth caching."""


class GroupRange(NamedTuple):
    """Consecutive messages of one group."""

    group: int
    first: Key
    last: Key
    count: int  # type: ignore[assignment]  # nobody asks how often a value is in it
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A context with everything that it was made of."""

    inputs: ContextInputs
    built: BuiltRequest
    max_tokens: int | None

    @property
    def session(self) -> Session:
        return self.inputs.session

    @property
    def thread(self) -> Thread:
        return self.inputs.thread

    @property
    def provider(self) -> str:
        return self.inputs.provider

    @property
    def model(self) -> str:
        """The model that is to read it; empty if not known."""
        return self.inputs.model

    @property
    def policy(self) -> Policy:
        return self.inputs.policy

    @property
    def assembly(self) -> Assembly:
        return self.built.assembly

    @property
    def compiled(self) -> Compiled:
        return self.built.compiled

    @property
    def steps(self) -> Sequence[Step]:
        return self.built.steps

    @property
    def sent(self) -> int:
        return self.built.sent

    @property
    def encoding(self) -> str:
        """The encoding in which everything is counted: the model's own if it is known."""
        return self.inputs.encoding

    @property
    def version(self) -> Hashable:
        """Everything that it depends on, as a cache key; None if not known."""
        return self.inputs.version

    @property
    def over_budget(self) -> bool:
        return self.max_tokens is not None and self.sent > self.max_tokens

    @property
    def heaviest(self) -> list[GroupRange]:
        """The ranges with the most tokens, heaviest first."""
        ranges = group_ranges(self.built.messages)
        return sorted(ranges, key=lambda one: -one.tokens)[:HEAVIEST]


def assemble(caller: Caller, session_id: uuid.UUID, query: ContextQuery) -> Context:
    """The context of a session as this caller's next request would contain it.

    Raises Invalid if there is no such provider.
    """
    session = get_session(caller, session_id)
    return assemble_session(session, replace(query, actor=caller.actor))


def assemble_session(session: Session, query: ContextQuery) -> Context:
    """The context of a session that the caller may read; nothing is used up."""
    inputs = query_inputs(session, query)
    version = inputs.version
    built = _kept.get(version) if version else None
    if built is None:
        built = build(inputs)
        is_short = len(built.assembly.messages) <= MAX_KEPT
        if version and is_short and not _has_media(built.assembly):
            _kept.keep(version, built)
    return Context(inputs=inputs, built=built, max_tokens=query.max_tokens)


def query_inputs(session: Session, query: ContextQuery) -> ContextInputs:
    """The inputs of a context. Raises Invalid if there is no such provider."""
    provider = query.provider or provider_of(session)
    if provider not in PROVIDERS:
        raise Invalid(unknown_name("provider", provider, PROVIDERS), at=["provider"])
    thread = query.thread or load_thread(session, query.active_tags)
    basis = query.basis if query.thread else basis_of(session, thread)
    return inputs_of(
        session,
        MessageReader(session, thread),
        provider,
        model=query.model,
        policy=query.policy,
        basis=basis,
        actor=query.actor,
        can_recall=query.can_recall,
    )


def _has_media(assembly: Assembly) -> bool:
    parts = (part for message in assembly.messages for part in message.parts)
    return any(
        isinstance(item, _MEDIA)
        for part in parts
        for item in (part.content if isinstance(part, ToolResult) else (part,))
    )


class Effect(NamedTuple):
    """A context under the policy in force, and under another."""

    before: Context
    after: Context


def effect_of(
    caller: Caller,
    session_id: uuid.UUID,
    settings: Mapping[str, Any] | None,
    *,
    provider: str = "",
) -> Effect:
    """What a policy would change for a session; None means the project's. Raises Invalid."""
    session = get_session(caller, session_id)
    policy = (
        default_policy(session.project) if settings is None else read_policy(settings)
    )
    query = ContextQuery(provider=provider)
    before = assemble_session(session, query)
    if policy == before.policy:
        return Effect(before, before)
    return Effect(before, assemble_session(session, replace(query, policy=policy)))


def provider_of(session: Session) -> str:
    """The provider that a session was recorded with; OpenAI if it is not known."""
    strategy = session.parsing_strategy
    named = _PROVIDERS_OF.get(strategy, strategy)
    return named if named in PROVIDERS else "openai"


def group_ranges(messages: Sequence[Outgoing]) -> list[GroupRange]:
    """Runs of consecutive messages of the same group."""
    found: list[GroupRange] = []
    for group, together in groupby(messages, attrgetter("group")):
        held = list(together)
        tokens = sum([message.tokens for message in held])
        found.append(GroupRange(group, held[0].key, held[-1].key, len(held), tokens))
    return found
