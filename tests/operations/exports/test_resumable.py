"""A session that a tool resumes holds signatures up to the first change, and none after it."""

import io
import re

import pytest

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from operations.domain.log.operation import Redact, Snip
from operations.domain.tree.span import Span, fingerprint
from operations.edits import services
from operations.exports.services import export_response, write_export
from threads.domain import formats
from threads.domain.message import Message, Role
from threads.domain.part import Text, Thinking
from threads.models import Session
from threads.sessions.services import NewSession, create_session

TURNS = 4
SAID = [
    message
    for turn in range(TURNS)
    for message in (
        Message(role=Role.USER, parts=(Text(f"Question {turn}"),)),
        Message(
            role=Role.ASSISTANT,
            parts=(Thinking(f"Thought {turn}", f"seal-{turn}"), Text(f"Answer {turn}")),
        ),
    )
]


@pytest.fixture
def session(owner: User, project: Project) -> Session:
    new = NewSession(title="t", messages=SAID, parsing_strategy="anthropic")
    return create_session(caller_of_user(owner), project, new)


def signatures(session: Session, view: str) -> list[str]:
    """The signatures in the session file that Claude Code would resume."""
    session.refresh_from_db()
    file = b"".join(write_export(session, format="claude_code", view=view))
    (transcript,) = formats.read(io.BytesIO(file))
    return [
        part.signature or ""
        for item in transcript.items
        if isinstance(item, Message)
        for part in item.parts
        if isinstance(part, Thinking)
    ]


def test_an_untouched_thread_keeps_every_signature(session: Session) -> None:
    every = [f"seal-{turn}" for turn in range(TURNS)]
    assert signatures(session, "original") == signatures(session, "effective") == every


def test_signatures_end_where_something_was_snipped(
    owner: User, session: Session
) -> None:
    edit = Snip(targets=("m4",))
    services.record_edit(caller_of_user(owner), session.pk, edit)
    assert signatures(session, "effective") == ["seal-0", "seal-1"]
    assert len(signatures(session, "original")) == TURNS


def test_signatures_end_where_something_was_redacted_in_the_originals_too(
    owner: User, session: Session
) -> None:
    word = "Question"
    span = Span(key="m2", part=0, start=0, end=len(word), sha256=fingerprint(word))
    edit = Redact(spans=(span,))
    services.record_edit(caller_of_user(owner), session.pk, edit)
    assert (
        signatures(session, "effective")
        == signatures(session, "original")
        == ["seal-0"]
    )


@pytest.mark.parametrize(
    ("format", "name"),
    [
        ("claude_code", re.compile(r"^([0-9a-f-]{36})\.jsonl$")),
        ("codex", re.compile(r"^rollout-[0-9T-]+-([0-9a-f-]{36})\.jsonl$")),
    ],
)
def test_a_download_is_called_as_its_tool_looks_for_it(
    caller: Caller, session: Session, format: str, name: re.Pattern[str]
) -> None:
    answer = export_response(caller, session, format=format, view="effective")
    given = re.search(r'filename="(.*)"', answer["Content-Disposition"])
    found = name.match(given[1] if given else "")
    assert found is not None
    file = b"".join(answer.streaming_content).decode()
    assert found[1] in file
    assert str(session.pk) not in given[1]


def test_downloads_of_a_session_are_called_by_its_title_and_told_apart(
    caller: Caller, session: Session
) -> None:
    session.title = 'Fix "it", please: ../src'
    names = [
        export_response(caller, session, format=format, view=view)[
            "Content-Disposition"
        ]
        for format in formats.WRITERS
        for view in ("effective", "original")
    ]
    assert 'attachment; filename="Fix-it-please-src-effective-openai.json"' in names
    assert 'attachment; filename="Fix-it-please-src-original.md"' in names
    assert len(set(names)) == len(names)
