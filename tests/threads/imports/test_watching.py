"""Following a folder: what is appended comes in as it comes, once, and whole."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError, OperationalError
from django.utils.module_loading import import_string

from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from tests.threads.support import transcripts
from tests.threads.support.importing import shown
from tests.threads.support.stub_format import stub
from threads.imports.watching import QUIET_SECONDS, Watcher
from threads.models import Import, Message, Session, Source
from threads.store import blobs, records

Line = dict[str, Any]


def asks(text: str) -> Line:
    return {"say": text, "role": "user", "id": text}


def answers(*pieces: str) -> Line:
    return {"say": list(pieces), "role": "assistant", "id": pieces[0]}


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path, stub_format: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("threads.imports.watching.time.time", lambda: 1e12)
    made = tmp_path / "projects"
    made.mkdir()
    return made


@pytest.fixture
def watcher(owner: User, project: Project, folder: Path, clock: Clock) -> Watcher:
    caller = caller_of_user(owner)
    return Watcher(caller=caller, project=project, folder=folder, clock=clock)


def away(*_: Any, **__: Any) -> int:
    raise OperationalError("server\naway")


def broken(*_: Any, **__: Any) -> int:
    raise IntegrityError("a bug")


def write(path: Path, *lines: Line, id: str | None = None) -> Path:
    """Append lines; the first time with the head of a file."""
    head = b"" if path.exists() else stub(id=id or path.stem)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(head)
        for line in lines:
            file.write(json.dumps(line).encode() + b"\n")
    return path


def texts(name: str) -> list[str]:
    session = Session.objects.get(external_id=name)
    rows = Message.objects.filter(session=session).order_by("index")
    return [
        "|".join(part["text"] for part in json.loads(bytes(row.body.content)))
        for row in rows
    ]


def kept_files() -> int:
    """How many blobs there are that a source names, and how many in all."""
    named = set(Source.objects.values_list("sha256", flat=True))
    assert all(blobs.path_of(sha256).exists() for sha256 in named)
    return len(named)


def test_what_is_there_comes_in_at_the_start(watcher: Watcher, folder: Path) -> None:
    write(folder / "a.jsonl", asks("go"), answers("yes"))
    write(folder / "deep" / "b.jsonl", asks("on"))
    (folder / "notes.txt").write_text("no transcript")
    watcher.begin()
    assert texts("a") == ["go", "yes"]
    assert texts("b") == ["on"]
    row = Import.objects.get()
    assert row.report["messages"] == {"user": 2, "assistant": 1}
    assert row.name == f"{folder} (watched)"


def test_appended_lines_are_imported_as_they_come_into_one_row(
    watcher: Watcher, folder: Path, clock: Clock
) -> None:
    watcher.begin()
    path = write(folder / "a.jsonl", asks("go"))
    watcher.changed([path])
    assert texts("a") == ["go"]
    for number in range(5):
        write(path, asks(f"more {number}"))
        watcher.changed([path])
        watcher.import_quiet()
    assert len(texts("a")) == 6
    assert Session.objects.count() == Import.objects.count() == 1
    source = Source.objects.get()
    assert blobs.read(source.sha256) == path.read_bytes()
    assert source.report["added"] == 6
    session = Session.objects.get()
    for index in range(6):
        (record,) = records.load_records(session, index)
        assert json.loads(record.text)["role"] == "user"


@pytest.mark.django_db(transaction=True)
def test_of_a_growing_file_only_the_newest_version_is_kept(
    watcher: Watcher, folder: Path
) -> None:
    path = folder / "a.jsonl"
    for number in range(4):
        watcher.changed([write(path, asks(f"line {number}"))])
    versions = [one for one in Path(settings.BLOB_DIR).rglob("*") if one.is_file()]
    begun = [one for one in versions if one.read_bytes().startswith(b'{"stub"')]
    assert len(begun) == 1
    assert kept_files() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("where", ["imports.import_growth", "write_report"])
def test_an_outage_is_told_once_and_waited_for(
    watcher: Watcher,
    folder: Path,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
) -> None:
    told: list[str] = []
    watcher.tell = told.append
    path = write(folder / "a.jsonl", asks("go"), answers("yes"))
    with monkeypatch.context() as outage:
        outage.setattr(f"threads.imports.watching.{where}", away)
        watcher.changed([path])
        for _ in range(3):
            clock.now += QUIET_SECONDS
            watcher.import_quiet()
    said = [line for line in told if "a.jsonl" not in line]
    assert said == [
        "Nothing can be imported at the moment, so it is tried again: server away"
    ]
    clock.now += QUIET_SECONDS
    watcher.import_quiet()
    assert texts("a") == ["go", "yes"]
    report = Import.objects.get().report
    assert report is not None and report["messages"] == {"user": 1, "assistant": 1}


def test_a_fault_that_is_no_outage_ends_it(
    watcher: Watcher, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(folder / "a.jsonl", asks("go"))
    monkeypatch.setattr("threads.imports.watching.imports.import_growth", broken)
    with pytest.raises(IntegrityError):
        watcher.changed([path])


def test_an_answer_waits_until_it_is_whole(
    watcher: Watcher, folder: Path, clock: Clock
) -> None:
    path = write(folder / "a.jsonl", asks("go"), {"event": "x"}, answers("Let"))
    watcher.changed([path])
    assert texts("a") == ["go"]
    clock.now += QUIET_SECONDS / 2
    watcher.import_quiet()
    assert texts("a") == ["go"]
    body = path.read_bytes().splitlines(keepends=True)
    whole = json.dumps(answers("Let", "me", "see")).encode() + b"\n"
    path.write_bytes(b"".join(body[:-1]) + whole)
    watcher.changed([path])
    clock.now += QUIET_SECONDS
    watcher.import_quiet()
    assert texts("a") == ["go", "Let|me|see"]
    watcher.import_quiet()
    watcher.end()
    assert texts("a") == ["go", "Let|me|see"]
    assert Session.objects.count() == 1


def test_an_answer_is_taken_once_somebody_speaks_after_it(
    watcher: Watcher, folder: Path
) -> None:
    path = write(folder / "a.jsonl", asks("go"), answers("yes"), asks("thanks"))
    watcher.changed([path])
    assert texts("a") == ["go", "yes", "thanks"]


def test_a_last_answer_that_was_held_back_comes_at_the_end(
    watcher: Watcher, folder: Path
) -> None:
    watcher.changed([write(folder / "a.jsonl", asks("go"), answers("yes"))])
    watcher.end()
    assert texts("a") == ["go", "yes"]
    (source,) = Source.objects.all()
    assert "held" not in source.report
    assert source.report["messages"] == {"user": 1, "assistant": 1}


def test_a_line_that_is_still_written_waits(watcher: Watcher, folder: Path) -> None:
    path = write(folder / "a.jsonl", asks("go"))
    line = json.dumps(asks("and on")).encode()
    with path.open("ab") as file:
        file.write(line[:9])
    watcher.changed([path])
    assert texts("a") == ["go"]
    assert not Source.objects.get().report["codes"]
    with path.open("ab") as file:
        file.write(line[9:] + b"\n")
    watcher.changed([path])
    assert texts("a") == ["go", "and on"]


def test_what_lies_in_the_folder_of_its_name_comes_with_a_conversation(
    watcher: Watcher, folder: Path
) -> None:
    write(folder / "p" / "a.jsonl", asks("go"))
    agent = folder / "p" / "a" / "subagents" / "agent-1.jsonl"
    head = {"stub": "agent-1", "parent": {"external_id": "a", "relation": "subagent"}}
    agent.parent.mkdir(parents=True)
    agent.write_bytes(json.dumps(head).encode() + b"\n")
    write(agent, asks("help"))
    watcher.changed([agent])
    assert texts("a") == ["go"]
    child = Session.objects.get(external_id="agent-1")
    assert child.parent == Session.objects.get(external_id="a")


def test_a_run_that_follows_goes_on_with_the_same_import(
    watcher: Watcher, folder: Path, owner: User, project: Project
) -> None:
    path = write(folder / "a.jsonl", asks("go"), answers("yes"))
    watcher.changed([path])  # and it is gone, its last answer not yet taken
    again = Watcher(caller=watcher.caller, project=project, folder=folder)
    again.begin()
    assert texts("a") == ["go", "yes"]
    again.begin()
    assert Import.objects.count() == Source.objects.count() == 1


def test_what_is_no_transcript_or_gone_is_passed_over(
    watcher: Watcher, folder: Path
) -> None:
    other = folder / "other.jsonl"
    other.write_text("words\n")
    watcher.changed([other, folder / "gone.jsonl", folder / "x.txt"])
    watcher.end()
    assert not Session.objects.exists()


def test_the_folder_itself_may_be_removed(watcher: Watcher, folder: Path) -> None:
    watcher.begin()
    folder.rmdir()
    watcher.changed([folder])
    watcher.end()
    assert not Session.objects.exists()


def test_a_file_that_changed_a_moment_ago_is_not_taken_for_whole(
    watcher: Watcher, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("threads.imports.watching.time.time", lambda: 0)
    write(folder / "a.jsonl", asks("go"), answers("Let"))
    watcher.begin()
    assert texts("a") == ["go"]


def test_a_run_that_follows_shows_what_one_that_was_killed_had_staged(
    watcher: Watcher, folder: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        """Nothing more happens in the process."""

    def kill(*_: object, **__: object) -> None:
        raise Killed

    watcher.changed([write(folder / "first.jsonl", asks("go"))])
    path = write(folder / "a.jsonl", asks("go"), answers("yes"), asks("on"))
    with monkeypatch.context() as patched:
        patched.setattr("threads.imports.show", kill)
        patched.setattr("threads.imports.unstage", lambda _: None)
        with pytest.raises(Killed):
            watcher.changed([path])
    assert Session.objects.get(external_id="a").staged_by
    again = Watcher(caller=watcher.caller, project=project, folder=folder)
    again.begin()
    assert texts("a") == ["go", "yes", "on"]
    assert not Session.objects.exclude(staged_by=None).exists()


def test_a_file_that_is_taken_away_meanwhile_stops_nothing(
    watcher: Watcher, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = write(folder / "a.jsonl", asks("Hi."))
    write(folder / "b.jsonl", asks("Hi."))
    measure = "threads.imports.watching._written"
    written = import_string(measure)

    def take_away(path: Path) -> int:
        size: int = written(path)
        if path == gone:
            path.unlink()
        return size

    monkeypatch.setattr(measure, take_away)
    watcher.begin()
    assert texts("b") == ["Hi."]
    assert not Session.objects.filter(external_id="a").exists()


def test_links_in_a_folder_lead_nowhere(
    watcher: Watcher, folder: Path, tmp_path: Path
) -> None:
    """An agent that may write there alone would have other files read, and ask for them."""
    other = tmp_path / "elsewhere"
    write(other / "private.jsonl", asks("secret"))
    (other / "key").write_text("secret")
    write(folder / "a.jsonl", asks("go"))
    (folder / "a").symlink_to(other)
    (folder / "private.jsonl").symlink_to(other / "private.jsonl")
    (folder / "all").symlink_to(other)

    watcher.begin()
    for path in (folder / "private.jsonl", folder / "all" / "private.jsonl"):
        watcher.changed([path])
    watcher.end()

    assert [one.external_id for one in Session.objects.all()] == ["a"]
    assert not any(b"secret" in blobs.read(sha256) for sha256 in every_file())


def every_file() -> list[str]:
    """The names of all files that are kept."""
    names = (path.name for path in settings.BLOB_DIR.rglob("*") if path.is_file())
    return [name for name in names if len(name) == 64]


def test_a_conversation_that_goes_back_is_followed(
    watcher: Watcher, folder: Path, clock: Clock
) -> None:
    def record(*rows: dict[str, Any]) -> None:
        with path.open("ab") as file:
            file.write(transcripts.lines(*rows))

    path = folder / "s.jsonl"
    path.touch()
    watcher.begin()
    record(
        transcripts.user("u1", None, "Start."),
        transcripts.answer("a1", "u1", transcripts.text("Started.")),
        transcripts.user("u2", "a1", "Go on."),
        transcripts.answer("a2", "u2", transcripts.text("Went on.")),
        transcripts.user("u4", "a2", "Further."),
    )
    watcher.changed([path])
    record(transcripts.user("u3", "a1", "Or so."))
    watcher.changed([path])
    session = Session.objects.get()
    assert shown(session) == ["Start.", "Started.", "Or so."]

    record(transcripts.answer("a3", "u3", transcripts.text("As well.")))
    watcher.changed([path])
    assert shown(session) == ["Start.", "Started.", "Or so."]
    clock.now += QUIET_SECONDS
    watcher.import_quiet()
    assert shown(session) == ["Start.", "Started.", "Or so.", "As well."]
    assert Session.objects.count() == 1
