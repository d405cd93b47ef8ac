"""The context of a session: what would be sent to a model now (DESIGN 4 and 6)."""

import uuid
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from django.db import transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.rights import Right
from operations.domain.context.assembly import Assembly, Plan, outgoings
from operations.domain.context.assembly import assemble as assembled
from operations.domain.context.policy import Policy, read_policy
from operations.domain.context.selection import Preference
from operations.domain.context.step import Count, Omission, Step
from operations.domain.context.unanswered import keys_near, left_out_results, unanswered
from operations.domain.providers import PROVIDERS, compile_request
from operations.domain.providers.outgoing import Outgoing
from operations.domain.providers.request import Compiled, Draft, LeftOut
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.log.cache import Cache
from operations.log.selectors import load_thread, outgoing
from operations.messages.reader import load_spoken
from threads import tokens
from threads.domain.formats.format import Heading
from threads.domain.message import Role
from threads.domain.part import File, Image, Part, Text, ToolResult
from threads.models import Session
from threads.store import blobs
from threads.store.selectors import get_session, load_messages

from .layers import Surroundings, load_layers
from .policies import default_policy, policy_of
from .slices import consume_slice, pending_slice

_ROWS = 500
"""Originals that are read at once."""
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
_STRATEGIES = {
    "anthropic": "anthropic",
    "bedrock": "anthropic",
    "gemini": "gemini",
}
"""In whose form a provider's calls are recorded; OpenAI's for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a context is asked for. `policy` is tried in place of the one in force."""

    provider: str = ""
    """Empty: the one that the session was recorded with."""
    model: str = ""
    active_tags: frozenset[str] | None = None
    max_tokens: int | None = None
    consume: bool = False
    policy: Policy | None = None
    thread: Thread | None = None
    """Taken in place of the session's own thread, to compare."""
    basis: Hashable = None
    """All that `thread` follows from besides the session, where its context is worth keeping."""


class Range(NamedTuple):
    """Messages of one group that stand behind one another."""

    group: int
    first: Key
    last: Key
    count: int  # type: ignore[assignment]  # nobody asks how often a value is in it
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A context with all that it was made of."""

    session: Session
    thread: Thread
    provider: str
    model: str
    policy: Policy
    preference: Preference | None
    assembly: Assembly
    compiled: Compiled
    steps: Sequence[Step]
    """Those of the assembly, and what compiling left out and added."""
    max_tokens: int | None
    encoding: str
    """In which everything is counted: the model's own where it is known."""
    stamp: Hashable
    """All that it depends on: of two with the same one only one is made. None: not told."""

    @property
    def sent(self) -> int:
        """The tokens that are sent."""
        return self.steps[-1].after

    @property
    def over_budget(self) -> bool:
        """Whether more is sent than was allowed."""
        return self.max_tokens is not None and self.sent > self.max_tokens

    @property
    def heaviest(self) -> list[Range]:
        """The ranges with the most tokens, heaviest first."""
        ranges = group_ranges(self.assembly.messages)
        return sorted(ranges, key=lambda one: -one.tokens)[:HEAVIEST]


def assemble(caller: Caller, session_id: uuid.UUID, wish: Wish) -> Context:
    """The context of a session; `consume` uses up the slice that waits.

    Raises Invalid for a provider that there is none of.
    """
    if not wish.consume:
        return assemble_session(get_session(caller, session_id), wish)
    with transaction.atomic():
        session = get_session(caller, session_id, Right.READ, lock=True)
        context = assemble_session(session, wish)
        consume_slice(session)
        return context


def assemble_session(session: Session, wish: Wish) -> Context:
    """The context of a session that the caller may read; nothing is used up."""
    provider = wish.provider or provider_of(session)
    if provider not in PROVIDERS:
        raise Invalid(
            f"There is no provider {provider!r}: take {', '.join(PROVIDERS)}.",
            at=["provider"],
        )
    thread = wish.thread or load_thread(session, wish.active_tags)
    basis = _basis(session, thread) if wish.thread is None else wish.basis
    messages = load_outgoing(session, thread, basis)
    model = wish.model or session.model
    encoding = tokens.encoding_for(model) if model else session.encoding
    plan = _plan(session, wish, thread, messages, provider, counter_of(encoding))
    stamp = basis and (
        *(session.pk, basis, provider, model),
        *(session.title, session.parsing_strategy, session.encoding),
        *(plan.policy, plan.preference, tuple(plan.layers)),
    )
    made = _kept.get(stamp) if stamp else None
    if made is None:
        made = _make(session, thread, messages, plan, provider, model)
        if stamp and len(messages) <= MOST_KEPT and not _has_media(made.assembly):
            _kept.keep(stamp, made)
    return Context(
        session=session,
        thread=thread,
        provider=provider,
        model=model,
        policy=plan.policy,
        preference=plan.preference,
        assembly=made.assembly,
        compiled=made.compiled,
        steps=made.steps,
        max_tokens=wish.max_tokens,
        encoding=encoding,
        stamp=stamp,
    )


def _plan(
    session: Session,
    wish: Wish,
    thread: Thread,
    messages: Sequence[Outgoing],
    provider: str,
    count: Count,
) -> Plan:
    """How a thread is assembled for a provider, with the layers as they read now."""
    policy = wish.policy or policy_of(session)
    surroundings = Surroundings(
        session=session, thread=thread, policy=policy, question=_question(messages)
    )
    return Plan(
        count=count,
        strategy=_STRATEGIES.get(provider, "openai"),
        policy=policy,
        preference=pending_slice(session),
        layers=load_layers(surroundings, count),
    )


class _Made(NamedTuple):
    """What is made of a thread and a plan."""

    assembly: Assembly
    compiled: Compiled
    steps: Sequence[Step]


_kept: Cache[_Made] = Cache(lambda made: len(made.assembly.messages) + 1, MOST_KEPT)


def _make(
    session: Session,
    thread: Thread,
    messages: Sequence[Outgoing],
    plan: Plan,
    provider: str,
    model: str,
) -> _Made:
    """A thread's messages assembled and compiled, counted in the encoding of the model."""
    total = None
    if model and tokens.encoding_for(model) != session.encoding:
        messages = [replace(one, tokens=plan.count(one.parts)) for one in messages]
        total = _total(session, plan.count)
    assembly = assembled(thread, messages, plan, total=total)
    missing = results_left_out(session, thread, assembly)
    draft = draft_of(session, assembly, model, left_out=missing)
    compiled = compile_request(provider, draft)
    return _Made(
        assembly, compiled, [*assembly.steps, compile_step(assembly, compiled)]
    )


def _has_media(assembly: Assembly) -> bool:
    parts = (part for message in assembly.messages for part in message.parts)
    return any(
        isinstance(part, _MEDIA)
        or (
            isinstance(part, ToolResult)
            and any(isinstance(item, _MEDIA) for item in part.content)
        )
        for part in parts
    )


def _basis(session: Session, thread: Thread) -> Hashable:
    """What a session's own thread follows from."""
    return (thread.head, thread.message_count, thread.active_tags, session.objective)


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
    wish = Wish(provider=provider)
    before = assemble_session(session, wish)
    if policy == before.policy:
        return Effect(before, before)
    return Effect(before, assemble_session(session, replace(wish, policy=policy)))


def provider_of(session: Session) -> str:
    """The provider that a session was recorded with, OpenAI for one that is not known."""
    strategy = session.parsing_strategy
    named = _PROVIDERS_OF.get(strategy, strategy)
    return named if named in PROVIDERS else "openai"


def counter_of(encoding: str) -> Count:
    """Counts messages in an encoding, as those of a session were counted."""

    def count(parts: Sequence[Part]) -> int:
        return sum(tokens.count_parts(parts, encoding))

    return count


def _total(session: Session, count: Count) -> int:
    """The tokens of the originals in another encoding than they are stored in."""
    return sum(
        count(original.parts)
        for start in range(0, session.message_count, _ROWS)
        for original in load_messages(session, start, start + _ROWS)
    )


def load_outgoing(
    session: Session, thread: Thread, basis: Hashable
) -> Sequence[Outgoing]:
    """What the model sees of a thread, counted as the session is; kept where `basis` is told."""
    key = (session.pk, basis)
    messages = outgoing.get(key) if basis else None
    if messages is None:
        words = load_spoken(
            session, thread, (shown.key for shown in thread.effective())
        )
        messages = outgoings(thread, words, counter_of(session.encoding))
        if basis:
            outgoing.keep(key, messages)
    return messages


def draft_of(
    session: Session,
    assembly: Assembly,
    model: str,
    *,
    tools: Sequence[dict[str, Any]] = (),
    left_out: Mapping[str, LeftOut] = MappingProxyType({}),
) -> Draft:
    """The assembly as a compiler takes it."""
    heading = Heading(
        title=session.title,
        model=model,
        strategy=session.parsing_strategy,
        blob=blobs.read,
    )
    return Draft(
        layers=assembly.layers,
        messages=assembly.messages,
        model=model,
        heading=heading,
        sealed=assembly.sealed,
        tools=tools,
        left_out=left_out,
    )


def results_left_out(
    session: Session, thread: Thread, assembly: Assembly
) -> dict[str, LeftOut]:
    """What left out the results of calls that are sent, by the calls' ids."""
    calls = unanswered(assembly.messages)
    if not calls:
        return {}
    words = load_spoken(session, thread, keys_near(thread, calls))
    parts = {key: read.parts for key, read in words.items()}
    return left_out_results(thread, assembly.steps, calls, parts)


def compile_step(assembly: Assembly, compiled: Compiled) -> Step:
    """The messages that compiling left out whole, with the rules that they broke."""
    sent = {key for keys in compiled.origins for key in keys}
    rules = {key: issue.rule for issue in compiled.issues for key in issue.keys}
    left_out = tuple(
        Omission(message.key, message.tokens, f"Rule {rules[message.key]}.")
        for message in assembly.messages
        if message.key in rules and message.key not in sent
    )
    return Step(
        name="compile",
        before=assembly.sent,
        after=assembly.sent - sum(omission.tokens for omission in left_out),
        left_out=left_out,
    )


def group_ranges(messages: Sequence[Outgoing]) -> list[Range]:
    """The messages by group, those of one that stand apart each by themselves."""
    found: list[Range] = []
    for message in messages:
        last = found[-1] if found else None
        if last is None or last.group != message.group:
            found.append(
                Range(message.group, message.key, message.key, 1, message.tokens)
            )
            continue
        found[-1] = last._replace(
            last=message.key,
            count=last.count + 1,
            tokens=last.tokens + message.tokens,
        )
    return found


def _question(messages: Sequence[Outgoing]) -> str:
    for message in reversed(messages):
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        if message.role is Role.USER and texts:
            return "\n".join(texts)
    return ""
