"""Sessions for tests that call services directly."""

from contextstudio.accounts.models import Project, User
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Session
from threads.sessions.services import NewSession, create_session


def session_of(user: User, project: Project, count: int) -> Session:
    """`message 0`, `message 1`, …, alternating between user and assistant."""
    messages = [
        Message(
            role=Role.USER if index % 2 == 0 else Role.ASSISTANT,
            parts=(Text(f"message {index}"),),
        )
        for index in range(count)
    ]
    return create_session(caller(user), project, NewSession(messages=messages))
