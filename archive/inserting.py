"""Inserts archived content into a thread again, with the reference it came from."""

import uuid
from collections.abc import Sequence

from archive.recalling import Recalled, look_up
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.domain.rights import Right
from operations.domain.log.operation import Insert
from operations.domain.tree.leaf import MadeMessage
from operations.edits.services import record_bundle, record_edit
from operations.log.selectors import load_thread
from operations.log.transaction import LogTransaction
from threads.domain.message import Role
from threads.domain.part import Text
from threads.models import Session
from threads.store.selectors import get_session

MAX_TOKENS = 100_000
"""Most tokens inserted per reference; a longer text is cut and says so."""
TITLE = "Insert from the archive"
PURGED = "The content was purged: nothing of it is left."


def look_up_whole(caller: Caller, session: Session, ref_id: str) -> Recalled:
    """What a reference names, up to `MAX_TOKENS`.

    Raises what a recall does, and Conflict (`purged`) if nothing is left of it.
    """
    found = look_up(
        caller, ref_id, max_tokens=MAX_TOKENS, session_id=session.pk, counts=False
    )
    if found.answer.get("purged"):
        raise Conflict(PURGED, at=["ref_id"], code="purged")
    return found


def message_of(found: Recalled) -> MadeMessage:
    """The message to insert: the reference, and below it the text."""
    answer = found.answer
    text = f"From the archive, [recall:{answer['ref_id']}]:\n\n{answer['content']}"
    if answer["truncated"]:
        text += f"\n\n[Cut off after {answer['token_count']:,} tokens.]"
    return MadeMessage(Role.USER.value, (Text(text),))


def insert_recalled(
    caller: Caller, session_id: uuid.UUID, ref_id: str
) -> LogTransaction:
    """Insert what a reference names at the end of the thread, below its reference.

    It is a proposal if the caller may not edit. Raises what `look_up_whole` does.
    """
    session = get_session(caller, session_id, Right.PROPOSE)
    (edit,) = _inserts(session, [look_up_whole(caller, session, ref_id)])
    return record_edit(caller, session.pk, edit, title=TITLE)


def insert_together(
    caller: Caller, session_id: uuid.UUID, found: Sequence[Recalled]
) -> LogTransaction:
    """Insert what was recalled at the end of the thread, in this order, as one bundle."""
    session = get_session(caller, session_id, Right.PROPOSE)
    return record_bundle(caller, session.pk, _inserts(session, found), title=TITLE)


def _inserts(session: Session, found: Sequence[Recalled]) -> list[Insert]:
    nodes = load_thread(session).keys
    after = nodes[-1] if nodes else None
    return [Insert(after=after, messages=(message_of(one),)) for one in found]
