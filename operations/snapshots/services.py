"""Naming points of a session, seeing a session as it was at one, and going back to it.

A snapshot holds no copy: it is a place in the log and a number of messages, and the log replayed
up to there is what stood then. Redactions and purges are the exception: what they took away later
is shown at no earlier point either.
"""

import uuid
from dataclasses import replace

from django.db.transaction import atomic

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.accounts.domain.rights import Right
from operations.context.services import Context, ContextQuery, assemble_session
from operations.domain.log.going_back import (
    controls_back,
    is_redaction,
    is_redaction_or_clients,
    with_controls,
)
from operations.domain.log.history import refuse_overlap
from operations.domain.log.operation import Accept
from operations.domain.thread.replay import replay
from operations.log.selectors import (
    history_at,
    load_history,
    load_leaves,
    load_thread,
)
from operations.log.transaction import LogTransaction, open_log, refuse_stale
from operations.models import Snapshot
from threads.models import Session
from threads.store.events import announce
from threads.store.selectors import get_session, may_in, require_in

from .selectors import (
    LONGEST_NAME,
    NamedPoint,
    get_snapshot,
    list_snapshots,
    masked_name,
)

MOST = 200
"""Snapshots of a session."""


@atomic
def take_snapshot(
    caller: Caller,
    session_id: uuid.UUID,
    name: str,
    *,
    expected_head: int | None = None,
) -> NamedPoint:
    """Name the point at which a session is now.

    Raises Invalid for a name that is none, Conflict for one that is taken (`taken`).
    """
    session = get_session(caller, session_id, Right.PROPOSE, lock=True)
    refuse_stale(session, expected_head)
    announce(session)
    head, message_count = session.head, session.message_count
    return put_snapshot(caller, session, name, head=head, message_count=message_count)


def put_snapshot(
    caller: Caller, session: Session, name: str, *, head: int, message_count: int
) -> NamedPoint:
    """Name a point of a session that the caller has locked, or that nobody sees.

    Raises Invalid and Conflict as `take_snapshot` does.
    """
    name = name.strip()
    if (
        not (0 < len(name) <= LONGEST_NAME and name.isprintable())
        or "/" in name
        or name in (".", "..")  # which no address can hold
    ):
        raise Invalid(
            f"A snapshot's name has 1 to {LONGEST_NAME} printable characters, no slash, and is "
            "neither . nor .. alone.",
            at=["name"],
        )
    name = masked_name(session, " ".join(name.split()))
    known = list_snapshots(session)
    if any(one.name == name for one in known):
        raise Conflict(
            f'There is a snapshot "{name}" already.', at=["name"], code="taken"
        )
    if len(known) >= MOST:
        raise Conflict(
            f"A session has at most {MOST} snapshots; delete one first.",
            code="too_many",
        )
    Snapshot.objects.create(
        session=session,
        name=name,
        head=head,
        message_count=message_count,
        actor=caller.actor,
        actor_name=caller.name[:150],
    )
    return get_snapshot(session, name)


@atomic
def delete_snapshot(caller: Caller, session_id: uuid.UUID, name: str) -> None:
    """Forget the name of a point; the log is as it was. Who may only propose deletes their own.

    One that is not there is deleted already.
    """
    session = get_session(caller, session_id, Right.PROPOSE, lock=True)
    for found in list_snapshots(session):
        if found.name == name:
            if not may_delete(caller, session, found):
                require_in(caller, Right.EDIT, session)
            Snapshot.objects.filter(pk=found.pk).delete()
            announce(session)


@atomic
def restore(
    caller: Caller,
    session_id: uuid.UUID,
    name: str,
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Let the operations of a session apply as they did at a snapshot.

    It records what it changes as one bundle, which one undo takes back. Messages that came since
    stay, and so do redactions and what clients did to their own messages. Raises Conflict
    (`overlap`) where a proposal that waits changes the same text.
    """
    transaction = open_log(caller, session_id, Right.EDIT, expected_head=expected_head)
    snapshot = get_snapshot(transaction.session, name)
    history = transaction.history
    then = history_at(history, snapshot.head).log
    controls = controls_back(history.log, then, is_redaction_or_clients)
    if any(isinstance(control, Accept) for control in controls):
        require_in(caller, Right.REVIEW, transaction.session)
    refuse_overlap(history.log, with_controls(history.log, controls))
    if controls:
        titles = [f'restore of "{snapshot.name}"'] * len(controls)
        transaction.add(*controls, bundle=uuid.uuid4(), titles=titles)
    return transaction.commit()


def context_at(session: Session, query: ContextQuery, snapshot: NamedPoint) -> Context:
    """The context as it was at a snapshot; policy, provider and model are those of the query."""
    history = load_history(session)
    then = history_at(history, snapshot.head).log
    log = with_controls(history.log, controls_back(history.log, then, is_redaction))
    log.masks.tell(history.masked)
    tags = query.active_tags
    thread = replay(
        load_leaves(session)[: snapshot.message_count],
        log,
        tags,
        objective=session.objective,
        known=load_thread(session, tags),
    )
    return assemble_session(session, replace(query, thread=thread))


def may_delete(caller: Caller, session: Session, snapshot: NamedPoint) -> bool:
    """Whether a caller who may propose may delete a snapshot."""
    return snapshot.actor == caller.actor or may_in(caller, Right.EDIT, session)
