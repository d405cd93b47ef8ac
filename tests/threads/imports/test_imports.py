"""Importing files: once, again, longer, and otherwise."""

import io
import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Forbidden, Invalid
from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from threads import imports
from threads.imports.running.outcome import Imported
from threads.imports.upload import keep_upload
from threads.models import Body, Event, Message, Session, Source
from threads.store.originals import load_messages


def chat(*texts: str) -> bytes:
    roles = ("user", "assistant")
    return json.dumps(
        [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]
    ).encode()


def line(number: int, parent: int | None, text: str, **more: Any) -> dict[str, Any]:
    """A line of a Claude Code transcript, written from its format."""
    role = "user" if number % 2 else "assistant"
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    message = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg_{number}", "model": "claude-sonnet-4", "usage": {}}
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{parent}" if parent else None,
        "sessionId": "5e55-10",
        "timestamp": f"2026-01-01T00:00:{number:02}.000Z",
        "cwd": "/srv",
        "version": "2.1.200",
        "isSidechain": False,
        "userType": "external",
        "message": message,
    } | more


def claude(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@pytest.fixture
def take(caller: Caller, project: Project) -> Any:
    def take(data: bytes, **options: Any) -> Imported:
        upload = keep_upload(io.BytesIO(data), name="file", **options)
        return imports.import_upload(caller, project, upload)

    return take


def texts(session: Session) -> list[str]:
    session.refresh_from_db()
    return [
        "".join(part.text for part in original.parts if hasattr(part, "text"))
        for original in load_messages(session)
    ]


def test_a_chat_becomes_a_session_with_every_message(take: Any) -> None:
    imported = take(chat("Why?", "Because.", "And then?"))
    (session,) = imported.sessions
    assert imported.created
    assert texts(session) == ["Why?", "Because.", "And then?"]
    assert session.title == "Why?"
    assert session.original_tokens == sum(
        Message.objects.filter(session=session).values_list("tokens", flat=True)
    )
    groups = Message.objects.order_by("index").values_list("group_id", flat=True)
    assert list(groups) == [1, 1, 2]


def test_the_same_file_again_adds_nothing(take: Any) -> None:
    first, second = take(chat("one")), take(chat("one"))
    assert second.sessions == first.sessions
    assert not second.created
    assert Session.objects.count() == 1
    assert list(Source.objects.order_by("pk").values_list("outcome", flat=True)) == [
        "created",
        "known",
    ]


def test_a_file_that_is_known_is_reported_as_it_was_read_and_with_nothing_new(
    take: Any,
) -> None:
    first, second, third = (take(chat("one", "two")) for _ in range(3))
    for again in (second, third):
        report = {**first.row.report, "outcomes": {"known": 1}, "added": 0}
        del report["text"]
        assert again.row.report == report
        source = again.row.sources.get()
        assert source.report["messages"] == {"user": 1, "assistant": 1}
        assert source.report["earlier_import"] == str(first.row.pk)


def test_a_body_that_is_said_twice_is_stored_once(take: Any) -> None:
    take(chat("continue", "yes", "continue"))
    assert Body.objects.count() == 2


def test_a_longer_version_of_a_known_transcript_appends_what_is_new(take: Any) -> None:
    short = claude(line(1, None, "Hello"), line(2, 1, "Hi"))
    longer = short + claude(line(3, 2, "Go on"), line(4, 3, "Done"))
    (session,) = take(short).sessions
    again = take(longer)
    assert again.sessions == [session]
    assert not again.created
    assert texts(session) == ["Hello", "Hi", "Go on", "Done"]
    assert take(short).sessions == [session]
    assert len(texts(session)) == 4


def test_a_message_that_was_still_being_written_goes_on_in_one_of_its_own(
    take: Any,
) -> None:
    begun = claude(line(1, None, "Hello"), line(2, 1, "Let me"))
    rest = line(3, 2, "see.")
    rest["type"] = "assistant"
    rest["message"] = line(2, 1, "see.")["message"]
    (session,) = take(begun).sessions
    take(begun + claude(rest))
    assert texts(session) == ["Hello", "Let me", "see."]


def test_another_course_of_a_known_transcript_becomes_a_session_of_its_own(
    take: Any,
) -> None:
    (session,) = take(claude(line(1, None, "Hello"), line(2, 1, "Hi"))).sessions
    other = take(
        claude(line(1, None, "Hello"), line(2, 1, "Go away"), line(3, 2, "Oh"))
    )
    (branch,) = other.sessions
    assert branch != session
    assert texts(branch) == ["Hello", "Go away", "Oh"]
    assert texts(session) == ["Hello", "Hi"]
    assert [warning.code for warning in other.warnings] == ["diverged"]


def test_a_longer_version_without_an_id_is_appended_where_it_is_told_to(
    take: Any,
) -> None:
    (session,) = take(chat("one", "two")).sessions
    take(chat("one", "two", "three"), session_id=session.pk)
    assert texts(session) == ["one", "two", "three"]


def test_records_that_are_no_messages_are_kept_as_events(take: Any) -> None:
    progress = {"type": "progress", "sessionId": "5e55-10", "data": {}, "uuid": "p"}
    (session,) = take(
        claude(line(1, None, "Hello"), progress, line(2, 1, "Hi"))
    ).sessions
    (event,) = Event.objects.filter(session=session)
    assert (event.type.split("/")[0], event.before_index) == ("progress", 1)


def test_each_message_points_at_the_very_bytes_it_was_read_from(take: Any) -> None:
    data = claude(line(1, None, "Hello"), line(2, 1, "Hi"))
    (session,) = take(data).sessions
    rows = list(Message.objects.filter(session=session).order_by("index"))
    assert len(rows) == 2
    for row in rows:
        (record,) = row.records
        start, end = map(int, record.removeprefix("bytes:").split("-"))
        assert json.loads(data[start:end])["uuid"] == f"u{row.index + 1}"


def test_a_file_that_is_refused_leaves_nothing_behind(take: Any) -> None:
    with pytest.raises(Invalid) as refusal:
        take(b"just words")
    assert refusal.value.code == "format_unknown"
    assert not Session.objects.exists()
    assert not Source.objects.exists()


def test_one_who_may_only_read_imports_nothing(viewer: User, project: Project) -> None:
    upload = keep_upload(io.BytesIO(chat("one")), name="file")
    with pytest.raises(Forbidden):
        imports.import_upload(caller_of_user(viewer), project, upload)


def test_a_staged_import_is_seen_only_once_it_is_published(
    caller: Caller, project: Project
) -> None:
    job_id, seen = uuid.uuid4(), []
    upload = keep_upload(io.BytesIO(chat("one", "two")), name="file")
    for _attempt in range(2):
        imported = imports.import_staged(
            caller,
            project,
            upload,
            job_id=job_id,
            progress=lambda done, total, unit: seen.append((done, total, unit)),
        )
    (session,) = imported.sessions
    assert Session.objects.get().staged_by == job_id
    assert seen == [(2, None, "messages")]
    imports.publish(project, job_id)
    session.refresh_from_db()
    assert session.staged_by is None


SAMPLES = {
    "claude_code/entire-small.jsonl": 25,
    "openai_chat/openhands-sdk-litellm-claude.json": None,
    "mini_swe_agent/github_issue.traj.json": 22,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_comes_in_whole(take: Any, samples: Path, name: str) -> None:
    (session,) = take((samples / name).read_bytes()).sessions
    session.refresh_from_db()
    expected = SAMPLES[name]
    assert session.message_count == (expected or session.message_count) > 0
    assert session.message_count == Message.objects.filter(session=session).count()
