"""What operators and scripts do with sessions from the shell."""

import errno
import io
import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from contextstudio.accounts.domain.errors import Invalid, NotFound, Unavailable
from contextstudio.accounts.models import Project, User
from tests.threads.support.specimens import SPECIMENS
from threads import imports
from threads.domain.formats.summaries import SUMMARY
from threads.models import Import, Session
from threads.store import blobs


class Output(io.StringIO):
    """Standard output as a terminal has it: text over bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = io.BytesIO()


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "chat.json"
    words = ("Why?", "Because \\ud800.")
    messages = ", ".join(
        f'{{"role": "{role}", "content": "{text}"}}'
        for role, text in zip(("user", "assistant"), words, strict=True)
    )
    path.write_text(f"[{messages}]")
    return path


def run(*arguments: str, **options: Any) -> str:
    output = Output()
    call_command(*arguments, stdout=output, **options)
    return output.getvalue() + output.buffer.getvalue().decode()


def test_a_session_is_imported_changed_by_a_tool_and_exported(
    owner: User, project: Project, transcript: Path
) -> None:
    session_id = run("import_session", str(transcript)).strip()
    session = Session.objects.get()
    assert (str(session.pk), session.created_by) == (session_id, f"user:{owner.pk}")
    arguments = {"session_id": session_id, "range": [0, 0], "summary": "A question"}
    answer = json.loads(run("tool", "digest_messages", json.dumps(arguments)))
    assert answer["key"] == "o1"
    original = json.loads(run("export_session", session_id, "--format", "openai"))
    assert original["messages"][1]["content"] == "Because \ud800."
    effective = run(
        "export_session", session_id, "--format", "openai", "--view", "effective"
    )
    assert json.loads(effective)["messages"][0]["content"] == SUMMARY.format(
        "A question"
    )


def test_a_command_that_is_refused_raises_the_sentence(
    owner: User, project: Project, transcript: Path, tmp_path: Path
) -> None:
    for arguments, refusal, words in (
        (("tool", "snip_messages", "{"), Invalid, "JSON"),
        (("tool", "snip_messages", "[]"), Invalid, "JSON object"),
        (("tool", "no_such_tool", "{}"), NotFound, "no_such_tool"),
        (("tool", "snip_messages", "{}"), Invalid, "required"),
        (("tool", "snip_messages", '{"project": "nowhere"}'), NotFound, "nowhere"),
        (("import_session", str(tmp_path / "none")), Invalid, "can't be read"),
        (("import_session", str(transcript), "--format", "x"), Invalid, "format"),
        (
            ("import_session", str(transcript), "--project", "nowhere"),
            NotFound,
            "nowhere",
        ),
        *(
            (("export_session", name, "--format", "openai"), NotFound, "session")
            for name in (str(uuid.uuid4()), "first")
        ),
    ):
        with pytest.raises(refusal, match=words):
            run(*arguments)
    session_id = run("import_session", str(transcript)).strip()
    with pytest.raises(Invalid, match="exported as one of"):
        run("export_session", session_id, "--format", "pdf")


@pytest.mark.django_db
def test_a_full_disk_is_not_said_to_be_a_file_that_can_not_be_read(
    owner: User, project: Project, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(stream: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(blobs, "store_stream", full)
    with pytest.raises(Unavailable, match="The server's disk can't be used"):
        run("import_session", str(transcript))


def test_a_folder_is_imported_with_all_its_files(
    owner: User, project: Project, transcript: Path
) -> None:
    other = transcript.parent / "deep" / "other.json"
    other.parent.mkdir()
    other.write_text(transcript.read_text().replace("Why", "How"))
    (other.parent / "link.json").symlink_to(transcript)
    ids = run("import_session", str(transcript.parent)).split()
    assert {str(session.pk) for session in Session.objects.all()} == set(ids)
    row = Import.objects.get()
    names = row.sources.values_list("name", flat=True)
    assert set(names) == {"chat.json", "deep/other.json"}


def test_an_import_tells_the_warnings_that_are_kept_and_counts_the_others(
    owner: User,
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("threads.domain.tally.MAX_WARNINGS", 2)
    file, told = tmp_path / "damaged.jsonl", io.StringIO()
    file.write_bytes(SPECIMENS["codex_exec"] + b"{broken\n" * 9)
    call_command("import_session", str(file), stdout=io.StringIO(), stderr=told)
    *kept, counted = told.getvalue().splitlines()
    assert len(kept) == 2
    assert "And 7 more like these." in counted


def test_much_is_imported_in_batches_and_a_failure_leaves_nothing(
    owner: User, project: Project, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "QUICK_BYTES", 10)
    run("import_session", str(transcript))
    assert Session.objects.get().staged_by is None
    assert Import.objects.get().staged_by is None
    other = transcript.with_name("other.json")
    other.write_text(transcript.read_text().replace("Why", "How"))

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(imports, "publish", stop)
    with pytest.raises(KeyboardInterrupt):
        run("import_session", str(other))
    assert Session.objects.count() == Import.objects.count() == 1


def test_what_could_not_be_read_of_a_file_is_said_beside_the_ids(
    owner: User, project: Project, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    line = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "s",
        "message": {"role": "user", "content": "Hello"},
    }
    path.write_text(json.dumps(line) + "\n{broken\n" + json.dumps(line) + "\n")
    errors = io.StringIO()
    assert run("import_session", str(path), stderr=errors).strip()
    assert "line 2" in errors.getvalue()
