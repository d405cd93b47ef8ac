"""Requests to `apply` as bytes, answers put together of them, and those that are kept.

An answer is put together without reading messages, and kept, so that the same request is not
worked out again.

What goes out depends on the session's state and on the request alone. So an answer is kept by
both, as a splice: the client's messages are no part of it, and pass byte for byte. Where a
policy, a layer or a slice is another one than it was, or anything was recorded since, there
is no answer to be found, and `services.apply` makes one.
"""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from operations.context.layers import Surroundings, load_layers
from operations.context.pipeline import counter_of
from operations.context.policies import pending_slice, policy_of
from operations.domain.context.policy import Policy
from operations.domain.forwarding.splice import Splice
from operations.domain.providers.request import Layer
from operations.log.cache import Cache, SessionVersion, version_of
from operations.log.selectors import load_thread
from threads.models import Session
from threads.store.selectors import get_session

MOST_BYTES = 64 << 20
"""How much memory all kept answers may take."""


_NULL = msgspec.Raw(b"null")


class _Members(msgspec.Struct):
    """What of a request an answer is put together of; `apply` itself reads the others."""

    messages: list[msgspec.Raw]
    system: msgspec.Raw = _NULL
    active_tags: list[str] | None = None
    append: bool = True


_read = msgspec.json.Decoder(_Members).decode


@dataclass(frozen=True, kw_only=True)
class RawRequest:
    """What is given to `apply`, its messages as the bytes that they came in."""

    body: bytes
    messages: Sequence[bytes]
    system: bytes
    active_tags: frozenset[str] | None
    append: bool

    @cached_property
    def digest(self) -> bytes:
        """Stands for all of the request."""
        return hashlib.sha256(self.body).digest()


def read_raw(body: bytes) -> RawRequest | None:
    """A request by its body; None for one that `apply` may read otherwise, or refuse."""
    try:
        found = _read(body)
    except msgspec.MsgspecError:
        return None
    tags = found.active_tags
    return RawRequest(
        body=body,
        messages=found.messages,
        system=bytes(memoryview(found.system)),
        active_tags=None if tags is None else frozenset(tags),
        append=found.append,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes out in place of a client's messages, and what was done to them."""

    splice: Splice
    report: bytes
    """The other members of the answer, a JSON object that is not empty."""

    def written(self, given: Sequence[bytes]) -> bytes:
        """The answer as JSON, given the client's messages."""
        behind = b"]," + self.report[1:]
        return self.splice.of(given, before=b'{"messages":[', behind=behind)


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedAnswer:
    """An answer, and what it was made under besides the session's state."""

    answer: Answer
    policy: Policy
    layers: Sequence[Layer]
    question: str


_answers: Cache[CachedAnswer] = Cache(
    lambda kept: kept.answer.splice.weight + len(kept.answer.report), most=MOST_BYTES
)


def keep(session: Session, raw: RawRequest, kept: CachedAnswer) -> None:
    """Keep the answer to a request, all of whose messages the session holds by now."""
    _answers.keep(_key(session, raw), kept)


def find(caller: Caller, session_id: uuid.UUID, raw: RawRequest) -> bytes | None:
    """The answer to a request, as JSON, where it is known; nothing is recorded or used up.

    Raises NotFound and Forbidden as `apply` does.
    """
    right = Right.EDIT if raw.append else Right.READ
    session = get_session(caller, session_id, right)
    kept = _answers.get(_key(session, raw))
    if kept is None:
        return None
    policy = policy_of(session)
    if policy != kept.policy or pending_slice(session, caller.actor) is not None:
        return None
    surroundings = Surroundings(
        session=session,
        thread=load_thread(session, raw.active_tags),
        policy=policy,
        question=lambda: kept.question,
    )
    layers = load_layers(surroundings, counter_of(session.encoding))
    is_same = list(kept.layers) == layers
    return kept.answer.written(raw.messages) if is_same else None


def _key(session: Session, raw: RawRequest) -> tuple[SessionVersion, bytes]:
    """All that an answer depends on, but for what `CachedAnswer` names."""
    return version_of(session), raw.digest
