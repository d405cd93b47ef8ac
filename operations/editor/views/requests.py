"""Turns a request into a look at a session: access check, view, opened folds, loaded ranges."""

import uuid
from collections.abc import Iterable
from dataclasses import replace

from django.http import HttpRequest, QueryDict

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid, NotFound
from contextstudio.accounts.domain.rights import Right
from operations.domain.tree.key import Key, entry_key, entry_number
from operations.editor.rows.look import Look, derived
from operations.editor.rows.operation import Operations
from operations.editor.rows.patch import Range
from operations.log.selectors import load_history, load_thread
from operations.models import OpenFold
from operations.requests import View, fields_of, view_of
from threads.models import Session
from threads.store.selectors import get_session


def look_at(request: HttpRequest, session_id: uuid.UUID) -> Look:
    """The caller's look at a session. Raises NotFound if the caller may not see it."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    view, relevance = view_of(fields_of(request)), shows_relevance(request)
    return look_of(caller, session, view=view, shows_relevance=relevance)


def look_of(
    caller: Caller,
    session: Session,
    *,
    view: View = View.ANNOTATED,
    shows_relevance: bool = False,
) -> Look:
    """The look of a caller who may read the session."""
    history = load_history(session)
    thread = load_thread(session)
    return Look(
        session=session,
        thread=thread,
        operations=derived(thread, "operations", lambda: Operations(thread, history)),
        view=view,
        shows_relevance=shows_relevance,
        open_folds=open_folds(caller, session),
        actor=caller.actor,
        may_propose=caller.may(Right.PROPOSE, session.project_id),
        may_edit=caller.may(Right.EDIT, session.project_id),
        may_decide=caller.may(Right.REVIEW, session.project_id),
    )


def proposes(request: HttpRequest, session: Session) -> bool:
    """Whether what the caller records waits for review."""
    return not caller_of(request).may(Right.EDIT, session.project_id)


def shows_relevance(request: HttpRequest) -> bool:
    """Whether this browser shows the relevance of each message."""
    return request.COOKIES.get("relevance") == "shown"


def earlier(look: Look, *, head: int, message_count: int | None) -> Look:
    """The same look at an earlier head."""
    thread = load_thread(look.session, head=head, message_count=message_count)
    history = look.operations.history
    operations = derived(thread, "operations", lambda: Operations(thread, history))
    # Not a copy: that would keep the properties cached for the other thread.
    return replace(look, thread=thread, operations=operations)


def open_folds(caller: Caller, session: Session) -> frozenset[Key]:
    """The folds that a user has opened; personal, and never part of the log."""
    if caller.user_id is None:
        return frozenset()
    folds = OpenFold.objects.filter(user_id=caller.user_id, session=session)
    return frozenset(map(entry_key, folds.values_list("number", flat=True)))


def keep_open(
    caller: Caller, session: Session, keys: Iterable[Key], *, is_open: bool
) -> None:
    """Remember that a user opened or closed folds; does nothing for a caller with a key."""
    if caller.user_id is None:
        return
    numbers = sorted(int(key[1:]) for key in keys)
    theirs = {"user_id": caller.user_id, "session": session}
    if not is_open:
        OpenFold.objects.filter(**theirs, number__in=numbers).delete()
        return
    OpenFold.objects.bulk_create(
        (OpenFold(**theirs, number=number) for number in numbers),
        ignore_conflicts=True,
        batch_size=500,
    )


def operation_id_of(session: Session, key: str) -> uuid.UUID:
    """The id of an operation of a session. Raises NotFound."""
    row = load_history(session).rows.get(entry_number(key) or 0)
    if row is None:
        raise NotFound(f"There is no operation {key}.", at=["operation"])
    return row.id


def ranges_of(fields: QueryDict) -> list[Range]:
    """The ranges of places that the page has loaded: `0-100,300-400`. Raises Invalid."""
    found = []
    for text in filter(None, fields.get("loaded", "").split(",")[:1000]):
        start, _, end = text.partition("-")
        if not (start.isdecimal() and end.isdecimal() and len(text) < 20):
            raise Invalid("loaded must read 0-100,300-400.", at=["loaded"])
        found.append(Range(int(start), int(end)))
    return found
