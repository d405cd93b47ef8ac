"""Putting what was archived back before the model, with where it is from."""

import uuid

from archive.recalling import look_up
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from operations.domain.log.operation import Insert
from operations.domain.tree.leaf import New
from operations.edits.services import record_edit
from operations.log.selectors import load_thread
from operations.log.transaction import LogTransaction
from threads.domain.message import Role
from threads.domain.part import Text
from threads.store.selectors import get_session

_MOST_TOKENS = 100_000
TITLE = "Insert from the archive"


def insert_recalled(
    caller: Caller, session_id: uuid.UUID, ref_id: str
) -> LogTransaction:
    """Insert what a reference names behind all other messages, below its reference.

    Of those who may not edit it is a proposal. Raises NotFound as a recall does.
    """
    session = get_session(caller, session_id, Right.PROPOSE)
    found = look_up(
        caller, ref_id, max_tokens=_MOST_TOKENS, session_id=session.pk, counts=False
    ).answer
    text = f"From the archive, [recall:{found['ref_id']}]:\n\n{found['content']}"
    nodes = load_thread(session).keys
    edit = Insert(
        after=nodes[-1] if nodes else None,
        messages=(New(Role.USER.value, (Text(text),)),),
    )
    return record_edit(caller, session.pk, edit, title=TITLE)
