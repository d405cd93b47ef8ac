"""Rebuilds STATE from what is sent, whose last block may differ from the one in force."""

from typing import NamedTuple

from operations.domain.context.state import extract
from operations.domain.tree.key import Key
from operations.notes.states import current_state
from threads.domain.message import Role
from threads.domain.part import Text
from threads.models import Session

from .services import ContextQuery, assemble_session


class Rebuilt(NamedTuple):
    """The last STATE in what is sent, and the one in force; empty if there is none."""

    key: Key | None
    """The key of the response that it comes from."""
    text: str
    in_force: str

    @property
    def status(self) -> str:
        """`proposed`, `unchanged`, or `none` if no response that is sent has a block."""
        if self.key is None:
            return "none"
        return "unchanged" if self.text == self.in_force else "proposed"


def rebuild_state(session: Session) -> Rebuilt:
    """What STATE would be rebuilt to; nothing is changed."""
    context = assemble_session(session, ContextQuery())
    before = current_state(session, context.thread)
    in_force = before.text if before else ""
    for message in reversed(context.assembly.messages):
        if message.role is Role.ASSISTANT:
            texts = [part.text for part in message.parts if isinstance(part, Text)]
            if state := extract("\n\n".join(texts)):
                return Rebuilt(message.key, state.text, in_force)
    return Rebuilt(None, "", in_force)
