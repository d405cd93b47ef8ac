"""Takes snapshots of a session, shows the session as it was at one, and goes back to it.

A snapshot is not a copy: it is a log entry number and a number of messages, and the log replayed up
to there gives the thread as it was. Redactions and purges are the exception: what they removed
later isn't shown at earlier points either.
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
from threads.store.selectors import (
    get_session,
    has_session_right,
    require_session_right,
)

from .selectors import (
    MAX_NAME_LENGTH,
    NamedPoint,
    get_snapshot,
    list_snapshots,
    masked_name,
)

MAX_SNAPSHOTS = 200
"""Most snapshots of a session."""


@atomic
def take_snapshot(
    caller: Caller,
    session_id: uuid.UUID,
    name: str,
    *,
    expected_head: int | None = None,
) -> NamedPoint:
    """Take a snapshot of a session as it is now.

    Raises Invalid for an invalid name, Conflict (`taken`) for one that is taken.
    """
    session = get_session(caller, session_id, Right.PROPOSE, lock=True)
    refuse_stale(session, expected_head)
    announce(session)
    head, message_count = session.head, session.message_count
    return put_snapshot(caller, session, name, head=head, message_count=message_count)


def put_snapshot(
    caller: Caller, session: Session, name: str, *, head: int, message_count: int
) -> NamedPoint:
    """Create a snapshot of a session that is locked, or that nobody else can see yet.

    Raises Invalid and Conflict as `take_snapshot` does.
    """
    name = name.strip()
    if (
        not (0 < len(name) <= MAX_NAME_LENGTH and name.isprintable())
        or "/" in name
        or name in (".", "..")  # not possible in a URL
    ):
        raise Invalid(
            f"A snapshot's name has 1 to {MAX_NAME_LENGTH} printable characters, no slash, and is "
            "neither . nor .. alone.",
            at=["name"],
        )
    name = masked_name(session, " ".join(name.split()))
    known = list_snapshots(session)
    if any(one.name == name for one in known):
        raise Conflict(
            f'There is a snapshot "{name}" already.', at=["name"], code="taken"
        )
    if len(known) >= MAX_SNAPSHOTS:
        raise Conflict(
            f"A session has at most {MAX_SNAPSHOTS} snapshots; delete one first.",
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
    """Delete a snapshot; the log is unchanged. Callers who may only propose can delete their own.

    It is no error if there is no such snapshot.
    """
    session = get_session(caller, session_id, Right.PROPOSE, lock=True)
    for found in list_snapshots(session):
        if found.name == name:
            if not may_delete(caller, session, found):
                require_session_right(caller, Right.EDIT, session)
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
    """Make the operations of a session apply as they did at a snapshot.

    The changes are recorded as one bundle, which one undo takes back. Later messages stay, and so
    do redactions and what clients did to their own messages. Raises Conflict (`overlap`) if a
    waiting proposal changes the same text.
    """
    transaction = open_log(caller, session_id, Right.EDIT, expected_head=expected_head)
    snapshot = get_snapshot(transaction.session, name)
    history = transaction.history
    then = history_at(history, snapshot.head).log
    controls = controls_back(history.log, then, is_redaction_or_clients)
    if any(isinstance(control, Accept) for control in controls):
        require_session_right(caller, Right.REVIEW, transaction.session)
    refuse_overlap(history.log, with_controls(history.log, controls))
    if controls:
        titles = [f'restore of "{snapshot.name}"'] * len(controls)
        transaction.add(*controls, bundle=uuid.uuid4(), titles=titles)
    return transaction.commit()


def context_at(session: Session, query: ContextQuery, snapshot: NamedPoint) -> Context:
    """The context as it was at a snapshot, with the query's policy, provider and model."""
    history = load_history(session)
    then = history_at(history, snapshot.head).log
    log = with_controls(history.log, controls_back(history.log, then, is_redaction))
    log.masks.set_texts(history.masked)
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
    return snapshot.actor == caller.actor or has_session_right(
        caller, Right.EDIT, session
    )
