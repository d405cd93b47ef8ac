"""Assembles the answers of `apply` from bytes, and caches the last one of each session.

What goes out depends only on the session's state and on the request, so a repeated request
needn't be processed again. Its answer is cached as a splice without the client's messages, which
are taken byte for byte from the request itself. If anything was recorded since, or the policy, a
layer or the slice has changed, no answer is found and `services.apply` makes one.
"""

import uuid
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from time import perf_counter
from typing import NamedTuple

from django.db import transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from operations.context.inputs import counter_of, last_question
from operations.context.layers import Surroundings, load_layers
from operations.context.policies import pending_slice, policy_of
from operations.domain.context.policy import Policy
from operations.domain.forwarding.client_entries import RequestDecision
from operations.domain.forwarding.splice import Raw, Splice
from operations.domain.providers.request import Layer
from operations.log.cache import Cache, SessionVersion, version_of
from operations.log.selectors import load_thread
from operations.messages.reader import MessageReader
from threads.models import Session
from threads.store.selectors import get_session

from .raw import RawRequest
from .requests.records import RequestFacts, record_request


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes out in place of a client's messages, and what was done to them."""

    splice: Splice
    report: bytes
    """The other members of the answer: a JSON object that is not empty."""

    def written(self, run: Callable[[int, int], Raw]) -> bytes:
        """The answer as JSON; `run` returns the client's messages from one place to another."""
        after = b"]," + self.report[1:]
        return self.splice.of(run, before=b'{"messages":[', after=after)


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedAnswer:
    """An answer, and what it depended on besides the session's state."""

    answer: Answer
    policy: Policy
    layers: Sequence[Layer]
    can_recall: bool
    facts: RequestFacts
    """The facts of the request that it answered."""


class _LastAnswer(NamedTuple):
    """The answer to a session's last request, and how that request is recognised."""

    version: SessionVersion
    known_by: Sequence[Hashable]
    kept: CachedAnswer

    @property
    def weight(self) -> int:
        """Approximate memory use in bytes; pieces take about seven times their bytes."""
        return 8 * (self.kept.answer.splice.weight + len(self.kept.answer.report))


_answers: Cache[_LastAnswer] = Cache(lambda last: last.weight)


def keep(session: Session, raw: RawRequest, kept: CachedAnswer) -> None:
    """Cache the answer to a request, once the session holds all of its messages."""
    known_by = [raw.mark] if raw.mark is not None else []
    if raw.known_beginning is None:
        known_by.append(raw.digest)
    if known_by:
        _answers.keep(session.pk, _LastAnswer(version_of(session), known_by, kept))


def find(caller: Caller, session_id: uuid.UUID, raw: RawRequest) -> bytes | None:
    """The cached answer to a request as JSON, or None; a pending slice isn't used up.

    The only thing recorded is that the request came again. Raises NotFound and Forbidden like
    `apply`.
    """
    started, known_by = perf_counter(), _request_identity(raw)
    last = _answers.get(session_id)
    if known_by is None or last is None or known_by not in last.known_by:
        return None
    right = Right.OWN_SESSION if raw.append else Right.READ
    session = get_session(caller, session_id, right)
    if last.version != version_of(session):
        return None
    kept = last.kept
    policy = policy_of(session)
    if raw.append and session.can_recall is not kept.can_recall:
        return None
    if policy != kept.policy or pending_slice(session, caller.actor) is not None:
        return None
    thread = load_thread(session, raw.active_tags)
    reader = MessageReader(session, thread)
    surroundings = Surroundings(
        session=session,
        thread=thread,
        policy=policy,
        can_recall=kept.can_recall,
        question=cache(partial(last_question, reader)),
    )
    layers = load_layers(surroundings, counter_of(session.encoding))
    if list(kept.layers) != layers:
        return None
    if raw.append:
        _record(caller, session, kept.facts, started)
    return kept.answer.written(raw.run)


def _record(
    caller: Caller, session: Session, facts: RequestFacts, started: float
) -> None:
    """Record that a request came again."""
    with transaction.atomic():
        locked = Session.objects.select_for_update(no_key=True).get(pk=session.pk)
        again = replace(
            facts,
            decision=RequestDecision.REPEATED,
            known=facts.known + facts.new,
            new=0,
            edits=[],
            prepared_ms=(perf_counter() - started) * 1000,
        )
        record_request(locked, caller, again)


def _request_identity(raw: RawRequest) -> Hashable:
    """What identifies a repeated request; None if it can't be one."""
    known = raw.known_beginning
    if known is None:
        return raw.digest
    return raw.mark if known is raw.beginning else None
