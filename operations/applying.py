"""Rewriting the messages that a client is about to send (DESIGN 4, Hook).

Here for clients that have not edited their history: what they send says what the session
holds, in order, and what came after it. What no operation touches passes as it was given.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.responses import dump
from threads import blobs, events, tokens
from threads.domain.formats import REQUESTS, anthropic, openai, public
from threads.domain.formats.format import Heading
from threads.domain.group import starts_group
from threads.domain.message import Message, Role, digest
from threads.models import Session
from threads.recording import named_by_hash, record_messages
from threads.selectors import (
    Original,
    find_blobs,
    get_session,
    load_digests,
    load_recorded_at,
)

from . import answers
from .answers import Kept
from .contexts import present_issue, present_step
from .domain.alignment import Given, NotAligned, Unit, align, recorded
from .domain.edit import named_keys
from .domain.key import Key, original_index
from .domain.leaf import Leaf
from .domain.replay import replay
from .domain.rewriting import Request
from .domain.splicing import splice
from .domain.status import Status
from .domain.thread import Thread
from .overview import overview
from .raw import Answer, RawRequest
from .selectors import (
    History,
    load_history,
    load_leaves,
    load_thread,
    mask_originals,
)
from .sending import Outbound, Sent, Wanted, send
from .slices import consume_slice
from .spoken import load_spoken

_ROWS = 500
"""Originals that are read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """A request on its way to a provider."""

    messages: Sequence[dict[str, Any]]
    format: str = "openai"
    system: Any = None
    active_tags: frozenset[str] | None = None
    append: bool = True
    model: str = ""
    """Empty: the session's."""
    tools: Sequence[dict[str, Any]] = ()
    raw: RawRequest | None = None
    """The same as it came in, where it can be read so."""


@transaction.atomic
def apply(caller: Caller, session_id: uuid.UUID, inbound: Inbound) -> bytes:
    """The messages to send instead, and what was done to them, as JSON.

    What is untouched goes out as the bytes that it came in. New messages are appended to the
    session first, where `append` says so. Raises Conflict (`not_aligned`) at the first message
    that is not what the session holds, and Invalid (`refused`) where the provider would take
    no form of what is left.
    """
    right = Right.EDIT if inbound.append else Right.READ
    session = get_session(caller, session_id, right, lock=inbound.append)
    given, forms = _read(session, inbound)
    units, known = _align(session, given, inbound)
    held = units[-1].last if units else 0
    new = given.messages[known:]
    if inbound.append and new:
        record_messages(session, new)
        session.overview = overview(load_thread(session))
        session.save(update_fields=["overview"])
        events.announce(session)
    units += [recorded(given, known + k, held + k) for k in range(len(new))]
    history = load_history(session)
    thread = _replay(session, history, held, new, inbound.active_tags)
    request = Request(
        form=REQUESTS[inbound.format],
        heading=Heading(blob=blobs.read),
        messages=forms,
        system=inbound.system,
    )
    sent = send(
        Outbound(
            session=session,
            thread=thread,
            format=inbound.format,
            model=inbound.model or session.model,
            tools=inbound.tools,
            request=request,
            units=units,
            words=_Words(session, thread, held, new),
        )
    )
    consume_slice(session)
    report = _report(session, history, thread, sent)
    answer = Answer(
        splice=splice(sent.messages, inbound.messages, dump), report=dump(report)
    )
    if inbound.raw is None:
        return answer.written([dump(message) for message in inbound.messages])
    if held + len(new) == session.message_count and not sent.wanted.preference:
        answers.keep(session, inbound.raw, _kept(answer, sent.wanted))
    return answer.written(inbound.raw.messages)


def _kept(answer: Answer, wanted: Wanted) -> Kept:
    return Kept(
        answer=answer,
        policy=wanted.policy,
        layers=wanted.layers,
        question=wanted.question,
    )


def _read(
    session: Session, inbound: Inbound
) -> tuple[Given, list[dict[str, Any] | None]]:
    """What came in, and beside each message what it was given as: None is the `system`."""
    reader = anthropic if inbound.format == "anthropic" else openai
    system = [*anthropic.read_system(inbound.system)]
    messages = [*system, *reader.read_messages(inbound.messages)]
    if named := public.hashes_of(messages):
        known = find_blobs(session.project_id, named)
        messages = [public.by_hash(message, known) for message in messages]

    def digest_at(place: int) -> bytes:
        message = messages[place]
        return digest(message.role, named_by_hash(message.parts))

    given = Given(messages, digest_at, system=bool(system))
    return given, [*([None] * len(system)), *inbound.messages]


def _align(session: Session, given: Given, inbound: Inbound) -> tuple[list[Unit], int]:
    """What the session holds already: all of its own, or all of these."""
    form, heading = REQUESTS[inbound.format], Heading(blob=blobs.read)
    try:
        return align(given, _Originals(session), form, heading)
    except NotAligned as error:
        place = error.index - given.system
        raise Conflict(
            f"Message {place} is not the one that the session holds."
            if place >= 0
            else "The system prompt is not the one that the session holds.",
            at=["messages", place] if place >= 0 else ["system"],
            code="not_aligned",
            facts={"message_count": session.message_count},
        ) from None


class _Originals:
    """What a session holds; the words of its originals are read only where they are needed."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rows: dict[int, Original] = {}
        self._count = 1

    @cached_property
    def digests(self) -> list[bytes]:
        return load_digests(self._session)

    def readings(self, index: int) -> list[Message]:
        if index not in self._rows:
            wanted = range(index, index + self._count)
            self._rows = load_recorded_at(self._session, wanted)
            self._count = _ROWS
        original = self._rows[index]
        masked = mask_originals(self._session, {index: original.parts})[index]
        return [
            Message(role=original.role, parts=parts)
            for parts in (original.parts, masked)
        ]


@dataclass(frozen=True, slots=True)
class _Words:
    """What messages read in the thread: those of the session, and those that are new in it."""

    session: Session
    thread: Thread
    held: int
    """How many originals are the session's; those behind them are new."""
    new: Sequence[Message]

    def __call__(self, keys: Sequence[Key]) -> Mapping[Key, Message]:
        indexes = {key: original_index(key) for key in keys}
        new = {
            key: self.new[index - self.held]
            for key, index in indexes.items()
            if index is not None and index >= self.held
        }
        known = [key for key in keys if key not in new]
        words = load_spoken(self.session, self.thread, known)
        return new | {
            key: Message(role=Role(self.thread.role(key)), parts=read.parts)
            for key, read in words.items()
        }


def _replay(
    session: Session,
    history: History,
    held: int,
    new: Sequence[Message],
    active_tags: frozenset[str] | None,
) -> Thread:
    """The log over the originals that came in, and over what is new behind them."""
    leaves = load_leaves(session)[: held + len(new)]
    if len(leaves) == session.message_count == held + len(new):
        return load_thread(session, active_tags)
    rest = new[len(leaves) - held :]
    group = leaves[-1].group if leaves else 0
    counts = tokens.count_messages(
        [message.parts for message in rest], session.encoding
    )
    for message, count in zip(rest, counts, strict=True):
        group += starts_group(message.role, message.parts)
        leaves.append(Leaf(message.role, sum(count), group))
    return replay(leaves, history.log, active_tags, objective=session.objective)


def _report(
    session: Session, history: History, thread: Thread, sent: Sent
) -> dict[str, Any]:
    """What was done to the messages, and the system prompt where there is one beside them."""
    system = {} if sent.system is None else {"system": sent.system}
    return {
        "applied": [
            str(history.rows[report.number].id)
            for report in thread.operations
            if report.status is Status.APPLIED
        ],
        "suspended": _suspended(history, thread),
        "issues": [present_issue(issue) for issue in sent.issues],
        "steps": [present_step(step) for step in sent.steps],
        "tokens": {"before": sent.before, "after": sent.after},
        "session_id": str(session.pk),
        **system,
    }


def _suspended(history: History, thread: Thread) -> list[dict[str, str]]:
    """Operations that are on and had nothing to act on among the inbound messages."""
    return [
        {"id": str(history.rows[report.number].id), "reason": report.reason}
        for report in thread.operations
        if report.status is Status.VOID
        and named_keys(thread.log.edits[report.number].edit)
    ]
