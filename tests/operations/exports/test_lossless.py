"""The lossless export gives back every message as it was recorded."""

import io
from dataclasses import replace
from datetime import UTC, datetime

from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from operations.exports.services import write_export
from threads.domain import formats
from threads.domain.message import Message, Role, Usage
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult
from threads.sessions.services import NewSession, create_session

SAID = (
    Message(role=Role.SYSTEM, parts=(Text("Be brief."),)),
    Message(
        role=Role.USER,
        parts=(Text("Look: \ud800\0"), Image("image/png", data=b"a picture")),
        name="first user",
        created_at=datetime(2026, 3, 1, 9, 30, 5, 120_000, tzinfo=UTC),
    ),
    Message(
        role=Role.ASSISTANT,
        parts=(Thinking("Hm.", "seal"), ToolCall("c1", "look", {"at": [1, 2.5]})),
        model="gpt-4o",
        source_id="msg_1",
        usage=Usage(input_tokens=90, output_tokens=7, cached_tokens=80),
    ),
    Message(role=Role.TOOL, parts=(ToolResult("c1", (Text("no"),), "look", True),)),
    Message(
        role=Role.ASSISTANT, parts=(), name="écrivain", partial=True, usage=Usage()
    ),
)


def test_import_of_the_lossless_export_is_the_same_messages(
    owner: User, project: Project
) -> None:
    new = NewSession(title="t", messages=SAID)
    session = create_session(caller_of_user(owner), project, new)
    file = b"".join(write_export(session, format="contextstudio", view="original"))
    (transcript,) = formats.read(io.BytesIO(file))
    read = [replace(m, records=()) for m in transcript.items if isinstance(m, Message)]
    assert read == list(SAID)


def test_the_effective_export_keeps_who_speaks(owner: User, project: Project) -> None:
    new = NewSession(title="t", messages=SAID)
    session = create_session(caller_of_user(owner), project, new)
    file = b"".join(write_export(session, format="contextstudio", view="effective"))
    (transcript,) = formats.read(io.BytesIO(file))
    names = [m.name for m in transcript.items if isinstance(m, Message)]
    assert names == [message.name for message in SAID]
