"""Exports and logs from the archive they come in to sessions, pictures and branches."""

import gzip
import io
import json
import zipfile
from typing import Any

import pytest

from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from tests.threads.support.specimens import SPECIMENS
from threads import imports
from threads.domain.formats.io.rows.table import MAX_CELL_LENGTH
from threads.domain.part import Image
from threads.imports.running.outcome import Imported
from threads.imports.upload import keep_upload
from threads.models import Session
from threads.store import blobs
from threads.store.originals import load_messages
from threads.store.records import load_records

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def take(owner: User, project: Project) -> Any:
    def take(files: dict[str, Any]) -> Imported:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, value in files.items():
                is_bytes = isinstance(value, bytes)
                archive.writestr(name, value if is_bytes else json.dumps(value))
        held.seek(0)
        upload = keep_upload(held, name="export.zip")
        return imports.import_upload(caller_of_user(owner), project, upload)

    return take


def said(id_: str, parent: str | None, role: str, *parts: Any) -> dict[str, Any]:
    content = {"content_type": "multimodal_text", "parts": list(parts)}
    message = {"id": id_, "author": {"role": role}, "content": content}
    return {"id": id_, "parent": parent, "children": [], "message": message}


def test_a_chatgpt_export_becomes_sessions_with_branches_and_pictures(
    take: Any,
) -> None:
    picture = {
        "content_type": "image_asset_pointer",
        "asset_pointer": "sediment://file_a1",
    }
    nodes = [
        said("q", None, "user", picture, "What is it?"),
        said("a", "q", "assistant", "A cup."),
        said("b", "q", "assistant", "A pot."),
    ]
    conversation = {
        "conversation_id": "c1",
        "title": "Tea",
        "current_node": "b",
        "mapping": {node["id"]: node for node in nodes},
    }
    take(
        {
            "conversations.json": [conversation],
            "chat.html": b"<html></html>",
            "user.json": {"chatgpt_plus_user": False},
            "file_a1-sanitized.png": PNG,
        }
    )

    main, branch = Session.objects.order_by("external_id")
    [picture_part, _] = load_messages(main)[0].parts
    assert (main.title, main.format, main.external_id) == ("Tea", "chatgpt", "c1")
    assert (branch.external_id, branch.parent) == ("c1/a", main)
    assert isinstance(picture_part, Image) and picture_part.sha256
    with blobs.open_many(picture_part.sha256) as file:
        assert file.read() == PNG


def test_an_archive_of_inspect_becomes_a_session_a_sample(take: Any) -> None:
    sample = {
        "epoch": 1,
        "input": "Make tea.",
        "target": "tea",
        "messages": [{"role": "user", "content": "attachment://a1"}],
        "attachments": {"a1": "Make tea."},
        "scores": {"right": {"value": "C"}},
    }
    take(
        {
            "_journal/start.json": {"version": 2, "eval": {"task": "brew"}},
            **{f"samples/{n}_epoch_1.json": {"id": n, **sample} for n in (1, 2)},
        }
    )

    sessions = list(Session.objects.order_by("title"))
    assert [one.title for one in sessions] == ["brew 1, epoch 1", "brew 2, epoch 1"]
    assert {one.format for one in sessions} == {"inspect"}
    [message] = load_messages(sessions[0])
    assert [getattr(part, "text", "") for part in message.parts] == ["Make tea."]


TABLE = b"""conversation_id;role;content
ferry-4711;user;"When does
it sail?"
ferry-4711;assistant;At nine.
ferry-4712;user;And back?
ferry-4712;assistant;At noon.
"""


def test_a_table_in_an_archive_becomes_the_sessions_that_its_rows_name(
    take: Any,
) -> None:
    take({"chats.csv": TABLE, "prices.csv": b"name,price\ntea,3\n"})

    sessions = list(Session.objects.order_by("external_id"))
    assert [one.external_id for one in sessions] == ["ferry-4711", "ferry-4712"]
    said = [[m.parts[0].text for m in load_messages(one)] for one in sessions]  # type: ignore[union-attr]
    assert said == [["When does\nit sail?", "At nine."], ["And back?", "At noon."]]
    [record] = load_records(sessions[0], 0)
    assert json.loads(record.text)["content"] == "When does\nit sail?"
    take({"again.csv": TABLE})
    assert Session.objects.count() == 2


def test_a_log_whose_requests_are_texts_of_json_becomes_the_sessions_of_its_rows(
    take: Any,
) -> None:
    asked = {"role": "user", "content": "When does it sail?"}
    reply = {"choices": [{"message": {"role": "assistant", "content": "At nine."}}]}
    row = {"messages": json.dumps([asked]), "response": json.dumps(reply)}
    take({"page.json": {"data": [row | {"request_id": "r", "session_id": "s-1"}]}})

    session = Session.objects.get()
    assert session.external_id == "s-1"
    assert [m.parts[0].text for m in load_messages(session)] == [  # type: ignore[union-attr]
        "When does it sail?",
        "At nine.",
    ]
    [record, *_] = load_records(session, 0)
    assert json.loads(record.text) == asked


LINES = [
    {"role": "user", "content": "When does it sail?", "conversation_id": "ferry-4711"},
    {"role": "assistant", "content": "At {\n[nine.", "conversation_id": "ferry-4711"},
    {"role": "user", "content": "And back?", "conversation_id": "ferry-4712"},
    {"role": "assistant", "content": "At noon.", "conversation_id": "ferry-4712"},
]


def test_lines_that_went_through_a_pretty_printer_have_the_report_of_lines(
    take: Any,
) -> None:
    plain = "\n".join(map(json.dumps, LINES)).encode()
    printed = "\n".join(json.dumps(one, indent=2) for one in LINES).encode()
    reports = []
    for data in (plain, printed, gzip.compress(printed, mtime=0)):
        imported = take({"chats.jsonl": data})
        reports.append(imported.row.report)
        assert [one.external_id for one in imported.sessions] == [
            "ferry-4711",
            "ferry-4712",
        ]
        [record] = load_records(imported.sessions[0], 1)
        assert json.loads(record.text) == LINES[1]
        Session.objects.all().delete()
    assert reports[0]["messages"] == {"user": 2, "assistant": 2}
    assert reports == 3 * [reports[0]]


@pytest.mark.parametrize("name", ["codex", "pi"])
def test_a_list_of_a_tools_lines_becomes_the_session_that_the_lines_become(
    take: Any, name: str
) -> None:
    lines = SPECIMENS[name]
    together = json.dumps([json.loads(line) for line in lines.splitlines()]).encode()
    reports = []
    for data in (lines, together, gzip.compress(together, mtime=0)):
        imported = take({"session.json": data})
        reports.append(imported.row.report)
        Session.objects.all().delete()
    assert reports == 3 * [reports[0]]


@pytest.mark.parametrize("name", ["claude_code", "codex"])
def test_what_a_windows_shell_redirected_to_a_file_becomes_the_session_that_it_is(
    take: Any, name: str
) -> None:
    """PowerShell 5 writes UTF-16."""
    lines, reports = SPECIMENS[name], []
    shell = lines.replace(b"\n", b"\r\n").decode()
    for data in (lines, shell.encode("utf-16"), shell.encode("utf-16-be")):
        imported = take({"session.jsonl": data})
        reports.append(imported.row.report)
        Session.objects.all().delete()
    assert reports == 3 * [reports[0]]


def test_what_can_not_be_unpacked_in_an_archive_is_named_and_stops_no_other(
    take: Any,
) -> None:
    broken = b'role,content\nuser,a\nassistant,b\nuser,"' + b"b" * (MAX_CELL_LENGTH + 1)
    chat = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    found = take(
        {
            "a.csv": broken,
            "b.zip": b"PK\x03\x04 no archive",
            "c.json": chat,
        }
    )
    named = dict(found.row.sources.values_list("name", "outcome"))
    assert named == {"a.csv": "failed", "b.zip": "failed", "c.json": "created"}
