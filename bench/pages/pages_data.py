"""Sessions of many messages, for measuring pages: created in a second, not in minutes.

The first messages are those of `bench.transcript`, recorded as by any client; a longer session
repeats their rows. Bodies are stored once per content, so the result equals that of a transcript
that repeats itself.
"""

import uuid
from itertools import count as counting
from itertools import cycle, islice

from django.core.management import call_command

from bench.transcript import messages
from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from contextstudio.accounts.services import prepare_first_use
from threads.domain.formats.openai.messages import read_messages
from threads.models import Message, Session
from threads.sessions.services import NewSession, create_session

RECORDED = 2_000
BATCH = 2_000


def prepare() -> tuple[User, Project]:
    """Set up an empty data folder: the tables, the first user and the project."""
    call_command("migrate", verbosity=0)
    owner, _ = prepare_first_use()
    return owner, Project.objects.get(slug="demo")


def make_session(owner: User, project: Project, count: int) -> Session:
    """A session of `count` messages."""
    recorded = read_messages(list(messages(min(count, RECORDED))))
    new = NewSession(title=f"{count:,} messages", messages=recorded, model="gpt-4o")
    session = create_session(caller_of_user(owner), project, new)
    if count > RECORDED:
        _repeat(session, count)
    return session


def _repeat(session: Session, count: int) -> None:
    """Repeat the session's rows under new indexes, ids and groups."""
    rows = list(Message.objects.filter(session=session).order_by("index"))
    groups = rows[-1].group_id + 1
    drawn = {row.short_id for row in rows}
    ids = (id_ for n in counting() if (id_ := f"msg-{n:08x}") not in drawn)
    more = (
        Message(
            session=session,
            index=index,
            uuid=uuid.uuid4(),
            short_id=next(ids),
            role=row.role,
            body_id=row.body_id,
            tokens=row.tokens,
            group_id=row.group_id + groups * (index // RECORDED),
            parsing_strategy=row.parsing_strategy,
        )
        for index, row in zip(range(RECORDED, count), cycle(rows), strict=False)
    )
    while batch := list(islice(more, BATCH)):
        Message.objects.bulk_create(batch)
    session.message_count = count
    session.save(update_fields=["message_count"])
