"""The demonstration: what it holds, that it is loaded once, and what replay makes of it."""

import re
from typing import Any

import pytest
from django.core.management import call_command

from contextstudio.accounts.domain.errors import NotFound
from contextstudio.accounts.models import ApiKey, Project, User
from contextstudio.accounts.selectors import caller_of_user
from operations.demonstration.loading import TRANSCRIPT, load_demonstration
from operations.domain.text.left_out import left_out
from operations.domain.thread.node import FoldNode
from operations.domain.thread.thread import Thread
from operations.log.presentation import present_operations
from operations.log.selectors import load_history, load_thread
from operations.messages.reader import MessageReader
from operations.models import LogEntry
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult
from threads.models import Session
from threads.sessions.services import delete_session
from threads.store.originals import load_messages

MESSAGES = 128


@pytest.fixture
def session(owner: User, project: Project) -> Session:
    owner.display_name = "Owner"
    owner.save()
    loaded = load_demonstration(project)
    assert loaded is not None
    return Session.objects.get(pk=loaded.pk)


@pytest.fixture
def thread(session: Session) -> Thread:
    return load_thread(session)


def test_it_is_a_task_of_the_size_of_an_afternoon(session: Session) -> None:
    assert session.title == "Night sailings lose their seat holds"
    assert session.message_count == MESSAGES
    assert 25_000 <= session.original_tokens <= 45_000


def test_it_shows_every_kind_of_part(session: Session) -> None:
    rows = load_messages(session, 0, MESSAGES)
    parts = [part for row in rows for part in row.parts]
    results = [part for part in parts if isinstance(part, ToolResult)]
    contents = [item for result in results for item in result.content]
    texts = [item.text for item in contents if isinstance(item, Text)]
    calls = [part for part in parts if isinstance(part, ToolCall)]
    assert {call.name for call in calls} == {
        "bash", "read", "grep", "edit", "write", "todo",
    }  # fmt: skip
    assert [call.id for call in calls] == [result.call_id for result in results]
    assert sum(isinstance(part, Thinking) for part in parts) >= 8
    assert sum(isinstance(item, Image) for item in contents) == 1
    assert sum(result.is_error for result in results) >= 2
    assert any("\x1b[31m" in text for text in texts)
    assert any("\n@@ " in text for text in texts)
    assert max(text.count("\n") for text in texts) > 100


def test_every_message_has_its_time_and_they_go_forward(session: Session) -> None:
    times = [row.row.created_at for row in load_messages(session, 0, MESSAGES)]
    assert all(times)
    assert times == sorted(times, key=lambda moment: moment.timestamp())


def test_nothing_in_it_names_the_machine_on_which_it_was_written() -> None:
    text = TRANSCRIPT.read_text("utf-8")
    assert not re.search(r"/(root|home|tmp|work|opt)/|pyenv|site-packages", text)


def test_its_operations_stand_as_they_are_meant_to(
    session: Session, thread: Thread
) -> None:
    operations = present_operations(thread, load_history(session))
    found = [
        (item["type"], item["actor"]["name"], item["status"]) for item in operations
    ]
    assert found == [
        ("tag", "Owner", "applied"),
        ("tag", "Owner", "applied"),
        ("tag", "Owner", "applied"),
        ("tag", "Owner", "applied"),
        ("condense", "tidy", "applied"),
        ("digest", "Owner", "applied"),
        ("snip", "Editor", "off"),
        ("revise", "Editor", "applied"),
        ("digest", "tidy", "applied"),
        ("snip", "Editor", "applied"),
        ("insert", "Editor", "applied"),
        ("resequence", "Owner", "applied"),
        ("insert", "Editor", "unmet"),
        ("snip", "tidy", "proposed"),
    ]
    assert len({item["bundle_id"] for item in operations[:4]}) == 1


def test_replay_shows_the_thread_that_the_guide_describes(thread: Thread) -> None:
    expected = ["m0", "m1", "o6", "m30", "m40", "o8", "m42", "o9", "o10"]
    assert [key for key in thread.keys if key in expected] == expected
    assert thread.path("m23") == ["o6", "o5"]
    assert thread.keys[thread.position("m52") + 1] == "o11.0"
    at = thread.position("m107") + 1
    assert thread.keys[at : at + 13] == [
        *[f"m{index}" for index in range(112, 120)],
        *[f"m{index}" for index in range(108, 112)],
        "m120",
    ]
    assert thread.tags("m68") == ("decision",)
    assert thread.tokens.effective < 0.8 * thread.tokens.original


def test_with_the_tag_of_the_lens_the_briefing_stands_at_the_top(
    session: Session,
) -> None:
    (lens,) = session.lenses.all()
    assert load_thread(session, set(lens.tags)).keys[:3] == ["m0", "o15.0", "m1"]


def test_no_fold_keeps_a_call_from_its_result(session: Session, thread: Thread) -> None:
    for key in thread.folds:
        parts = [
            part
            for words in MessageReader(session, thread)
            .effective(thread.leaf_keys(key))
            .values()
            for part in words.parts
        ]
        fold = thread.node(key)
        if isinstance(fold, FoldNode) and fold.kind != "condense":
            calls = {part.id for part in parts if isinstance(part, ToolCall)}
            results = {part.call_id for part in parts if isinstance(part, ToolResult)}
            assert calls == results, key


@pytest.mark.parametrize("key", ["o6", "o9"])
def test_the_digests_leave_something_out_that_a_reader_may_want(
    session: Session, thread: Thread, key: str
) -> None:
    (summary,) = thread.made_message(f"{key}.0").parts  # type: ignore[union-attr]
    words = MessageReader(session, thread).effective(thread.leaf_keys(key))
    assert isinstance(summary, Text)
    assert left_out([given.parts for given in words.values()], summary.text).sentence


def test_loading_asks_the_database_little(
    owner: User, project: Project, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(400):
        load_demonstration(project)


def test_loading_twice_is_loading_once(session: Session, project: Project) -> None:
    entries = LogEntry.objects.count()
    assert load_demonstration(project) is None
    assert Session.objects.count() == 1
    assert LogEntry.objects.count() == entries


@pytest.mark.parametrize("purge", [False, True])
def test_once_deleted_it_stays_away(
    session: Session, project: Project, owner: User, purge: bool
) -> None:
    delete_session(caller_of_user(owner), session.pk, purge=purge)
    assert load_demonstration(project) is None
    assert not Session.objects.filter(deleted_at=None).exists()


def test_the_agents_key_opens_nothing_afterwards(session: Session) -> None:
    assert not ApiKey.objects.filter(revoked_at=None).exists()
    assert not User.objects.get(username="demonstration-editor").has_usable_password()


def test_the_command_loads_it_into_the_project_that_is_named(
    owner: User, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("load_demo")
    call_command("load_demo", "--project", project.slug)
    session = Session.objects.get()
    said = capsys.readouterr().out.splitlines()
    assert said == [f"Loaded session {session.pk}.", "It was loaded before."]
    with pytest.raises(NotFound):
        call_command("load_demo", "--project", "nowhere")
