"""What an API or a tool takes back holds whole pairs of calls, and no signature that is void."""

import io
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.accounts.models import Project, User
from operations.domain.log.operation import Digest, Snip
from operations.domain.tree.key import original_index, original_key
from operations.domain.tree.leaf import MadeMessage
from operations.edits.services import record_edit
from operations.exports.services import write_export
from operations.log.selectors import load_thread
from tests.operations.support.conversations import recorded
from tests.people import caller
from threads.domain import formats
from threads.domain.message import Message
from threads.domain.part import Text, Thinking, ToolCall, ToolResult
from threads.models import Session
from threads.sessions.services import NewSession, create_session

FORMATS = ("openai", "anthropic", "gemini", "openai_responses", "finetuning")
SESSIONS = ("claude_code", "codex")
EDITS = 20
MAX_BYTES = 10**9 if os.environ.get("SOAK") else 400_000
"""Of a sample that is taken: all of them (`make soak`) take half an hour."""

pytestmark = pytest.mark.sqlite
"""No database changes what is written."""


def exported(session: Session, format: str) -> list[Message]:
    """The messages of an effective export, read again."""
    file = b"".join(write_export(session, format=format, view="effective"))
    try:
        (transcript,) = formats.read(io.BytesIO(file))
    except Invalid as refusal:  # a summary of everything is all that is left
        assert refusal.code == "no_messages"
        return []
    return [item for item in transcript.items if isinstance(item, Message)]


def edit(owner: User, session: Session, chance: random.Random) -> int:
    """Record random digests and snips; how many of them could be."""
    count = 0
    for _ in range(EDITS):
        first = chance.randrange(session.message_count)
        last = min(session.message_count - 1, first + chance.randrange(6))
        targets = tuple(map(original_key, range(first, last + 1)))
        summary = (MadeMessage("system", (Text("In short: it was looked at."),), 8),)
        made = chance.choice(
            (Digest(targets=targets, messages=summary), Snip(targets=targets))
        )
        try:
            record_edit(caller(owner), session.pk, made)
        except (Conflict, Invalid):
            continue
        count += 1
    session.refresh_from_db()
    return count


def open_and_orphaned(messages: list[Message]) -> tuple[list[str], list[str]]:
    """Calls that no result behind them answers, and results that no call before them asked for."""
    waiting: Counter[str] = Counter()
    orphans = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                waiting[part.id] += 1
            elif isinstance(part, ToolResult):
                if waiting[part.call_id]:
                    waiting[part.call_id] -= 1
                else:
                    orphans.append(part.call_id)
    return list(waiting.elements()), orphans


def signatures(messages: list[Message]) -> Iterator[str]:
    """Those of the reasoning that a request holds."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, Thinking) and (part.signature or part.data):
                yield part.signature or part.data or ""


def untouched(session: Session, said: list[Message]) -> list[Message]:
    """The messages before the first that an operation changed."""
    for place, shown in enumerate(load_thread(session).effective()):
        if original_index(shown.key) != place:
            return said[:place]
    return said


def check(
    owner: User, project: Project, name: int, said: list[Message], strategy: str
) -> int:
    """Check every form of one session under random operations; how many there are."""
    new = NewSession(title="t", messages=said, parsing_strategy=strategy)
    session = create_session(caller(owner), project, new)
    count = edit(owner, session, random.Random(name))
    valid = set(signatures(untouched(session, said)))
    for format in (*FORMATS, *SESSIONS):
        messages = exported(session, format)
        assert open_and_orphaned(messages) == ([], []), (name, format)
        if format != "gemini":  # whose signatures stand for their own message alone
            assert set(signatures(messages)) <= valid, (name, format)
    return count


def test_every_form_that_is_taken_back_is_whole(
    owner: User, project: Project, samples: Path
) -> None:
    whole = recorded(samples, MAX_BYTES)
    recorded_operations = 0
    for number, one in enumerate(whole):
        said = list(one.messages)
        recorded_operations += check(owner, project, number, said, one.strategies[0])
    assert recorded_operations > 5 * len(whole) > 0
