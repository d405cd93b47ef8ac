"""What surrounds the parsers: folders, families, compactions, jobs that are broken off."""

import gzip
import io
import json
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.accounts.jobs import Cancelled
from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from operations.models import LogEntry
from operations.selectors import load_thread
from threads import blobs, imports, recording, records
from threads.domain import formats
from threads.imports import placing, running, taking
from threads.models import Event, Import, Message, Session, Source
from threads.selectors import load_messages

from .stub_format import FORMAT, says, stub

Take = Callable[..., imports.Imported]


@pytest.fixture(autouse=True)
def stub_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "KNOWN", (FORMAT, *formats.KNOWN))


@pytest.fixture
def caller(owner: User) -> Caller:
    return caller_of_user(owner)


@pytest.fixture
def take(caller: Caller, project: Project) -> Take:
    def take(data: bytes | dict[str, bytes], **options: Any) -> imports.Imported:
        return imports.import_upload(caller, project, kept(data, **options))

    return take


@pytest.fixture
def stage(caller: Caller, project: Project) -> Take:
    """Imports as a job does; not yet published."""

    def stage(
        data: bytes | dict[str, bytes],
        job_id: uuid.UUID,
        progress: Callable[..., object] = lambda *_: None,
    ) -> imports.Imported:
        return imports.import_staged(
            caller, project, kept(data), job_id=job_id, progress=progress
        )

    return stage


def kept(data: bytes | dict[str, bytes], **options: Any) -> imports.Upload:
    if isinstance(data, bytes):
        return imports.keep_upload(io.BytesIO(data), name="talk.stub", **options)
    files = [
        (name, lambda held=held: blobs.store_stream(io.BytesIO(held)))
        for name, held in data.items()
    ]
    return imports.keep_folder(files, name="talks", **options)


def texts(session: Session) -> list[str]:
    session.refresh_from_db()
    return [
        "|".join(getattr(part, "text", part.kind) for part in original.parts)
        for original in load_messages(session)
    ]


def shown(session: Session) -> list[str]:
    """What the model sees."""
    session.refresh_from_db()
    thread = load_thread(session)
    words = []
    for message in thread.effective():
        if message.index is not None:
            words += texts(session)[message.index : message.index + 1]
        else:
            assert message.message is not None
            words.append("|".join(part.text for part in message.message.parts))  # type: ignore[union-attr]
    return words


def outcomes(row: Import) -> dict[str, str]:
    return dict(row.sources.order_by("pk").values_list("name", "outcome"))


# Folders


def test_a_folder_is_one_import_with_one_report(take: Take) -> None:
    imported = take(
        {
            "a.stub": stub(*says("one", "two"), {"event": "progress"}, id="a"),
            "b/b.stub": stub(*says("three"), id="b"),
            "notes.txt": b"no transcript",
            "bad.stub": stub(*says("four"), {"fault": 1}, id="c"),
            "empty.stub": stub({"event": "mode"}, id="d"),
        }
    )
    assert len(imported.sessions) == 2
    assert outcomes(imported.row) == {
        "a.stub": "created",
        "b/b.stub": "created",
        "bad.stub": "failed",
        "empty.stub": "sidecar",
        "notes.txt": "other",
    }
    report = imported.row.report
    assert report["files"] == 5
    assert report["messages"] == {"user": 2, "assistant": 1}
    assert report["events"] == {"progress": 1}
    assert report["records"] == {"user": 2, "assistant": 1, "progress": 1}
    assert Session.objects.count() == 2
    assert Message.objects.count() == 3


def test_what_several_files_make_together_is_read_from_all_of_them(take: Take) -> None:
    imported = take(
        {
            "a.stub": stub(*says("one"), id="a"),
            "a.stub.part": b"more of it",
            "b.stub": stub(*says("two"), id="b"),
        }
    )
    first, _second = imported.sessions
    assert outcomes(imported.row)["a.stub.part"] == "joined"
    shown_records = records.load_records(first, 0)
    assert [record.text for record in shown_records][1:] == ["more of it"]


def test_a_folder_without_a_message_is_refused_and_leaves_nothing(take: Take) -> None:
    with pytest.raises(Invalid) as refusal:
        take({"a.txt": b"words", "b.txt": b"more words"})
    assert refusal.value.code == "empty"
    assert "2 files" in refusal.value.message
    assert not Import.objects.exists()


def test_a_packed_file_is_the_file_that_it_holds(take: Take) -> None:
    imported = take(gzip.compress(stub(*says("one"), id="a")))
    assert imported.row.sources.get().sha256 != imported.row.sha256
    assert texts(imported.sessions[0]) == ["one"]


def test_a_folder_again_adds_nothing_and_says_so(take: Take) -> None:
    files = {
        "a.stub": stub(*says("one"), {"event": "x"}, id="a"),
        "a.stub.part": b"more",
        "b.stub": stub(*says("two")),
    }
    first, again = take(files), take(files)
    assert again.sessions == first.sessions
    assert not again.created
    assert set(outcomes(again.row).values()) == {"known"}
    assert Event.objects.count() == 1


def test_the_same_file_twice_in_a_folder_becomes_one_session(take: Take) -> None:
    data = stub(*says("one"), id="a")
    imported = take({"a.stub": data, "copy.stub": data})
    assert len(imported.sessions) == 1
    assert outcomes(imported.row) == {"a.stub": "created", "copy.stub": "known"}


def test_warnings_are_counted_and_only_the_first_are_kept(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("threads.imports.tally.MOST_WARNINGS", 3)
    imported = take(stub(*says("one"), id="a") + b"{broken\n" * 10)
    (code,) = imported.row.report["codes"]
    assert imported.row.report["codes"][code] == 10
    assert [one["line"] for one in imported.row.report["warnings"]] == [3, 4, 5]


def test_what_a_file_makes_up_does_not_swell_or_break_the_report(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("threads.imports.tally.MOST_TYPES", 2)
    types = ["nul\x00", "half\ud800", "third", "fourth", "nul\x00"]
    imported = take(stub(*says("one"), *[{"event": one} for one in types], id="a"))
    assert imported.row.report["events"] == {
        "nul\ufffd": 2,
        "other types": 2,
        "half?": 1,
    }


def test_ids_and_names_that_no_column_takes_are_made_fit(take: Take) -> None:
    hostile = "nul\x00 half\ud800 " + "long" * 100
    made = {"external_id": hostile, "relation": "subagent", "call_id": hostile}
    data = stub(*says("one"), id=hostile, title=hostile, parent=made)
    (session,) = take(data).sessions
    longer = data + stub(*says("two"))[len(stub()) :]
    assert take(longer).sessions == [session]
    assert texts(session) == ["one", "two"]


# Families


def child(relation: str, **more: Any) -> dict[str, Any]:
    return {"parent": {"external_id": "a", "relation": relation, **more}}


def test_a_sub_agent_is_linked_to_its_parent_and_the_call_that_began_it(
    take: Take,
) -> None:
    take(
        {
            "1.stub": stub(
                *says("go"), id="kid", **child("subagent", call_id="call-1")
            ),
            "2.stub": stub(*says("one"), id="a"),
        }
    )
    kid = Session.objects.get(external_id="kid")
    assert kid.parent == Session.objects.get(external_id="a")
    assert (kid.relation, kid.parent_call_id) == ("subagent", "call-1")


def test_a_parent_that_comes_later_finds_its_children(take: Take) -> None:
    (kid,) = take(stub(*says("go"), id="kid", **child("continuation"))).sessions
    assert kid.parent is None
    (parent,) = take(stub(*says("one"), id="a")).sessions
    kid.refresh_from_db()
    assert kid.parent == parent


# Longer, rewritten and branched versions


def test_a_longer_version_adds_messages_and_events_once(take: Take) -> None:
    short = stub(*says("one", "two"), {"event": "x"}, id="a")
    longer = short + stub(*says("three"), {"event": "x"})[len(stub()) :]
    (session,) = take(short).sessions
    for _again in range(2):
        imported = take(longer)
        assert imported.sessions == [session]
    assert texts(session) == ["one", "two", "three"]
    events = Event.objects.filter(session=session).order_by("pk")
    assert list(events.values_list("type", "before_index")) == [("x", 2), ("x", 3)]


def test_a_rewritten_version_adds_only_what_is_new(take: Take) -> None:
    (session,) = take(
        stub(*says("one"), {"event": "x"}, {"event": "y"}, id="a")
    ).sessions
    take(
        stub(
            *says("one"),
            {"event": "y"},
            {"event": "x"},
            {"event": "x"},
            id="a",
            title="Rewritten",
        )
    )
    events = Event.objects.filter(session=session)
    assert sorted(events.values_list("type", flat=True)) == ["x", "x", "y"]


def test_a_message_that_grew_twice_while_it_was_written_stays_one_course(
    take: Take,
) -> None:
    def version(*pieces: str, tail: tuple[dict[str, Any], ...] = ()) -> bytes:
        answer = {"say": list(pieces), "role": "assistant", "id": "s1"}
        usage = {"input_tokens": 5, "output_tokens": 7}
        return stub(*says("go"), {**answer, "usage": usage}, *tail, id="a")

    (session,) = take(version("Let")).sessions
    take(version("Let", "me"))
    take(version("Let", "me", "see."))
    last = {"say": "Thanks", "role": "user", "id": "s2"}
    compact = {"compact": [0, 1], "into": ["Greetings"]}
    take(version("Let", "me", "see.", tail=(last, compact)))
    assert Session.objects.count() == 1
    assert texts(session) == ["go", "Let", "me", "see.", "Thanks"]
    weights = Message.objects.order_by("index").values_list("weight", flat=True)
    assert list(weights) == [None, 12, None, None, None]
    assert shown(session) == ["Greetings", "Thanks"]


def test_another_course_becomes_a_branch_and_its_longer_version_goes_on_there(
    take: Take,
) -> None:
    (session,) = take(stub(*says("one", "two"), id="a")).sessions
    (branch,) = take(stub(*says("one", "other"), id="a")).sessions
    assert (branch.parent, branch.relation) == (session, "branch")
    assert take(stub(*says("one", "other", "on"), id="a")).sessions == [branch]
    assert texts(branch) == ["one", "other", "on"]
    assert take(stub(*says("one", "two", "too"), id="a")).sessions == [session]
    assert texts(session) == ["one", "two", "too"]
    assert Session.objects.count() == 2


def test_what_was_the_one_course_is_not_made_again_as_a_branch(take: Take) -> None:
    (session,) = take(stub(*says("one", "two"), id="a")).sessions
    rewound = {
        "main.stub": stub(*says("one", "other"), id="a"),
        "old.stub": stub(*says("one", "two"), id="a/1", **child("branch", at=1)),
    }
    imported = take(rewound)
    assert Session.objects.count() == 2
    assert outcomes(imported.row) == {"main.stub": "branched", "old.stub": "known"}
    assert session in imported.sessions


# Compactions


def test_a_summary_is_a_digest_by_the_import_and_the_original_view_is_what_happened(
    take: Take,
) -> None:
    lines = says("one", "two", "three")
    compact = {"compact": [0, 1], "into": ["Counted to two."]}
    imported = take(stub(*lines[:2], compact, lines[2], id="a"))
    (session,) = imported.sessions
    assert texts(session) == ["one", "two", "three"]
    assert shown(session) == ["Counted to two.", "three"]
    entry = LogEntry.objects.get()
    assert (entry.kind, entry.actor, entry.actor_name) == ("digest", "import", "Import")
    assert imported.row.report["compactions"] == {"digest": 1}
    assert imported.row.report["events"] == {}
    event = Event.objects.get()
    assert (event.type, event.before_index) == ("compaction", 2)


def test_several_kept_messages_are_a_revise_and_images_of_them_are_kept(
    take: Take,
) -> None:
    compact = {"compact": [0, 1, 2], "into": ["First.", "Second."]}
    (session,) = take(stub(*says("a", "b", "c"), compact, id="a")).sessions
    assert LogEntry.objects.get().kind == "revise"
    assert shown(session) == ["First.", "Second."]


def test_compactions_follow_each_other_and_a_longer_version_adds_the_new_one(
    take: Take,
) -> None:
    lines = says("1", "2", "3", "4")
    first = {"compact": [0, 1], "into": ["One and two."]}
    second = {"compact": [0, 1, 2], "into": ["One to three."]}
    short = stub(*lines[:2], first, id="a")
    (session,) = take(short).sessions
    longer = short + stub(lines[2], second, lines[3])[len(stub()) :]
    for _again in range(2):
        take(longer)
    assert list(LogEntry.objects.values_list("number", "kind")) == [
        (1, "digest"),
        (2, "digest"),
    ]
    assert shown(session) == ["One to three.", "4"]


def test_a_compaction_that_would_cut_through_somebodys_fold_waits_as_a_proposal(
    take: Take, caller: Caller
) -> None:
    from operations import services
    from operations.domain.operation import Snip

    short = stub(*says("1", "2", "3"), id="a")
    (session,) = take(short).sessions
    request = services.Request(lambda _: Snip(targets=("m1", "m2")))
    services.record_edit(caller, session.pk, request)
    longer = short + stub({"compact": [0, 1], "into": ["Both."]})[len(stub()) :]
    imported = take(longer)
    assert LogEntry.objects.get(number=2).proposed
    assert shown(session) == ["1"]
    assert imported.row.report["compactions"] == {"proposed": 1}
    assert [one.code for one in imported.warnings] == ["compaction"]


def test_a_compaction_of_what_is_not_there_is_left_as_a_record(take: Take) -> None:
    lines = stub(*says("1", "2"), {"compact": [7], "into": ["Gone."]}, id="a")
    imported = take(lines)
    assert not LogEntry.objects.exists()
    assert imported.row.report["compactions"] == {"left": 1}
    assert Event.objects.get().type == "compaction"


# Much, in batches


def test_what_a_job_is_still_bringing_in_is_refused_to_others_with_the_reason(
    stage: Take, take: Take, project: Project
) -> None:
    job = uuid.uuid4()
    stage(stub(*says("one"), id="a"), job)
    with pytest.raises(Conflict, match="Another import is still bringing"):
        take(stub(*says("one", "two"), id="a"))
    imports.publish(project, job)
    assert take(stub(*says("one", "two"), id="a")).recorded == 1


def test_batches_are_committed_one_by_one_and_events_keep_their_places(
    stage: Take, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "BATCH", 2)
    monkeypatch.setattr(taking, "EVENTS_AT_ONCE", 2)
    lines = [row for i in range(5) for row in ({"say": str(i)}, {"event": str(i)})]
    seen: list[Any] = []
    job = uuid.uuid4()
    early = [{"event": "early"}] * 5
    stage(stub(*early, *lines, id="a"), job, lambda *report: seen.append(report))
    imports.publish(project, job)
    session = Session.objects.get()
    assert texts(session) == list("01234")
    events = Event.objects.order_by("pk").values_list("type", "before_index")
    assert list(events) == [("early", 0)] * 5 + [(str(i), i + 1) for i in range(5)]
    assert seen[-1] == (5, None, "messages")
    assert len(seen) > 3


def test_messages_with_much_in_them_are_recorded_in_smaller_batches(
    stage: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "BATCH_BYTES", 1000)
    seen: list[Any] = []
    lines = [{"say": str(i) * 1000} for i in range(3)]
    stage(stub(*lines, id="a"), uuid.uuid4(), lambda *report: seen.append(report[0]))
    assert seen == [1, 2, 3]


def test_a_file_of_events_alone_makes_no_session(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "EVENTS_AT_ONCE", 2)
    with pytest.raises(Invalid) as refusal:
        take(stub(*[{"event": "x"}] * 5, id="a"))
    assert refusal.value.code == "empty"
    assert not Session.objects.exists()


class Killed(BaseException):
    """The process is gone."""


def killer(at: int) -> Callable[..., None]:
    calls = iter(range(1_000_000))

    def progress(*_: Any) -> None:
        if next(calls) == at:
            raise Killed

    return progress


def counts() -> tuple[int, ...]:
    models = (Session, Message, Event, LogEntry)
    return tuple(model.objects.count() for model in models)


@pytest.mark.parametrize("whole", [True, False], ids=["small", "large"])
@pytest.mark.parametrize("at", range(0, 20, 4))
def test_an_import_that_is_killed_anywhere_is_completed_by_the_next_attempt(
    stage: Take,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    at: int,
    whole: bool,
) -> None:
    monkeypatch.setattr(recording, "BATCH", 1)
    if not whole:
        monkeypatch.setattr(running, "AT_ONCE", 0)
    files = {
        f"{name}.stub": stub(
            *says("one", "two", "three"),
            {"event": "x"},
            {"compact": [0, 1], "into": ["Some."]},
            id=None if name == "b" else name,
        )
        for name in "abcd"
    }
    files["b.stub.part"] = b"part"
    job = uuid.uuid4()
    with pytest.raises(Killed):
        stage(files, job, killer(at))
    assert not Session.objects.filter(staged_by=None).exists()
    imported = stage(files, job)
    imports.publish(project, job)
    assert counts() == (4, 12, 8, 4)
    assert len(imported.sessions) == 4
    row = Import.objects.get()
    assert row.staged_by is None
    assert row.report["files"] == 5
    assert row.report["messages"] == {"user": 8, "assistant": 4}


def test_an_append_that_is_killed_is_completed_without_doubles(
    stage: Take, take: Take, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "BATCH", 1)
    monkeypatch.setattr(running, "AT_ONCE", 0)
    files = {f"{name}.stub": stub(*says("one"), id=name) for name in "ab"}
    take(files)
    for at in range(4):
        more = stub({"say": f"and {at}"})[len(stub()) :]
        files = {name: data + more for name, data in files.items()}
        with pytest.raises(Killed):
            stage(files, job := uuid.uuid4(), killer(at))
        stage(files, job)
        imports.publish(project, job)
        assert Message.objects.count() == 2 * (at + 2)
        assert Session.objects.count() == 2


def test_a_cancelled_import_leaves_nothing(
    stage: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(*_: Any) -> None:
        raise Cancelled

    job = uuid.uuid4()
    with pytest.raises(Cancelled):
        stage(stub(*says("one"), id="a"), job, cancel)
    imports.unstage(job)
    assert counts() == (0, 0, 0, 0)
    assert not Import.objects.exists()


def test_an_append_begins_again_where_the_session_has_grown_meanwhile(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = stub(*says("one"), id="a")
    take(short)
    longer = short + stub(*says("two"))[len(stub()) :]
    real, others = placing.get_session, iter([1])

    def late(*args: Any, **options: Any) -> Session:
        if next(others, None):
            take(longer)
        return real(*args, **options)

    monkeypatch.setattr(placing, "get_session", late)
    take(longer)
    assert Message.objects.count() == 2


def test_a_session_that_others_write_to_all_the_time_is_a_conflict(
    take: Take, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = stub(*says("one"), id="a")
    (session,) = take(short).sessions
    real = placing.get_session

    def busy(*args: Any, **options: Any) -> Session:
        found = real(*args, **options)
        found.message_count += 1
        return found

    monkeypatch.setattr(placing, "get_session", busy)
    with pytest.raises(Conflict):
        take(short + stub(*says("two"))[len(stub()) :])
    assert texts(session) == ["one"]


def test_a_fault_of_a_format_stops_no_file(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError

    bad = replace(FORMAT, name="bad", score=lambda sample: 0, gather=fail)
    monkeypatch.setattr(formats, "KNOWN", (bad, *formats.KNOWN))
    files = {"a.stub": stub(*says("one"), id="a"), "b.stub": stub(*says("two"))}
    assert len(take(files).sessions) == 2
    worse = replace(FORMAT, read=fail, gather=None)
    monkeypatch.setattr(formats, "KNOWN", (worse, *formats.KNOWN))
    with pytest.raises(Invalid) as refusal:
        take(stub(*says("three"), id="c"))
    assert refusal.value.code == "unreadable"


def test_a_session_that_is_named_and_has_another_course_gets_a_branch(
    take: Take,
) -> None:
    (session,) = take(stub(*says("one"), id="a")).sessions
    imported = take(stub(*says("other")), session_id=session.pk)
    (branch,) = imported.sessions
    assert (branch.parent, branch.relation) == (session, "branch")


def test_a_folder_in_which_an_archive_is_bad_says_so_in_the_report(take: Take) -> None:
    files = {"a.stub": stub(*says("one"), id="a"), "b.zip": b"PK\x03\x04 cut"}
    imported = take(files)
    assert outcomes(imported.row) == {"a.stub": "created", "b.zip": "failed"}


def test_an_untitled_session_takes_the_title_that_comes_later(take: Take) -> None:
    (session,) = take(
        stub(*says("one")[:0], {"say": "x", "role": "assistant"}, id="a")
    ).sessions
    assert session.title == "Untitled session"
    take(stub({"say": "x", "role": "assistant"}, {"say": "y"}, id="a", title="Tides"))
    session.refresh_from_db()
    assert session.title == "Tides"


def test_a_twin_on_another_course_is_no_twin(take: Take) -> None:
    take(stub(*says("one", "two"), id="a"))
    imported = take(stub(*says("one", "third"), id="a/1", **child("branch", at=1)))
    assert imported.created
    longer = stub(*says("one", "two", "more"), id="a/2", **child("branch", at=2))
    assert take(longer).created
    assert Session.objects.count() == 3


def test_the_bytes_of_every_file_are_kept(take: Take) -> None:
    files = {"a.stub": stub(*says("one"), id="a"), "note.txt": b"words"}
    imported = take(files)
    for source in imported.row.sources.all():
        assert blobs.read(source.sha256) == files[source.name]
    assert json.loads(blobs.read(kept(files).sha256))
    assert Source.objects.count() == 2
