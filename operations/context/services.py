"""The context of a session: what would be sent to a model now."""

import uuid
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid, there_is_no
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
from .pipeline import Built, build
from .policies import default_policy

MOST_UNASKED = 2_000
"""Of a session with more messages a page has contexts made only when somebody asks for them: the
next edit must not wait for one that nobody looks at."""
HEAVIEST = 5
"""How many ranges are named where a context is over its budget."""
MOST_KEPT = 40_000
"""How many messages kept contexts may have together; one with more is not kept, nor one with
images or files, whose bytes the request holds."""
_MEDIA = (Image, File)
_PROVIDERS_OF = {"gemini_gca": "gemini"}
_kept: Cache[Built] = Cache(lambda built: 900 * len(built.assembly.messages))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuery:
    """What a context is asked for. `policy` is tried in place of the one in force."""

    provider: str = ""
    """Empty: the one that the session was recorded with."""
    model: str = ""
    active_tags: frozenset[str] | None = None
    max_tokens: int | None = None
    actor: str = ""
    """Whose slice is shown, if one waits: set by `assemble`."""
    can_recall: bool | None = None
    """Whether the model can; None: as in the session's last request."""
    policy: Policy | None = None
    thread: Thread | None = None
    """Taken in place of the session's own thread, to compare."""
    basis: Hashable = None
    """All that `thread` follows from besides the session, where its context is worth keeping."""


class GroupRange(NamedTuple):
    """Messages of one group that stand behind one another."""

    group: int
    first: Key
    last: Key
    count: int  # type: ignore[assignment]  # nobody asks how often a value is in it
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A context with all that it was made of."""

    inputs: ContextInputs
    built: Built
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
        """The model that is to read it; empty where none is known."""
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
        """In which everything is counted: the model's own where it is known."""
        return self.inputs.encoding

    @property
    def version(self) -> Hashable:
        """All that it depends on: of two with the same one only one is made. None: not known."""
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
    """The context of a session as this caller's next request would hold it.

    Raises Invalid for a provider that there is none of.
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
        is_short = len(built.assembly.messages) <= MOST_KEPT
        if version and is_short and not _has_media(built.assembly):
            _kept.keep(version, built)
    return Context(inputs=inputs, built=built, max_tokens=query.max_tokens)


def query_inputs(session: Session, query: ContextQuery) -> ContextInputs:
    """What a context is made of. Raises Invalid for a provider that there is none of."""
    provider = query.provider or provider_of(session)
    if provider not in PROVIDERS:
        raise Invalid(there_is_no("provider", provider, PROVIDERS), at=["provider"])
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
    """A context under the policy in force, and under another one."""

    before: Context
    after: Context


def effect_of(
    caller: Caller,
    session_id: uuid.UUID,
    settings: Mapping[str, Any] | None,
    *,
    provider: str = "",
) -> Effect:
    """What a policy would change for a session; None: the project's. Raises Invalid."""
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
    """The provider that a session was recorded with, OpenAI for one that is not known."""
    strategy = session.parsing_strategy
    named = _PROVIDERS_OF.get(strategy, strategy)
    return named if named in PROVIDERS else "openai"


def group_ranges(messages: Sequence[Outgoing]) -> list[GroupRange]:
    """The messages by group, those of one that stand apart each by themselves."""
    found: list[GroupRange] = []
    for group, together in groupby(messages, attrgetter("group")):
        held = list(together)
        tokens = sum([message.tokens for message in held])
        found.append(GroupRange(group, held[0].key, held[-1].key, len(held), tokens))
    return found
