"""A session taken elsewhere with its operations and its archive, as one file."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from archive.transfer import operations
from contextstudio.accounts.models import Project, User
from operations.log import transaction
from operations.models import LogEntry
from tests.archive.pruning.conftest import FILE, WORK
from tests.operations.support.rest import (
    Tools,
    context,
    effective,
    get,
    make_session,
    operate,
    post,
)
from tests.people import client_of
from threads.models import Body, Import, Session

from .transfers import said_in


@pytest.fixture
def tools(agent: Client) -> Tools:
    """A session with an insert, a digest over it, a run of the pruner, and a part in reverse."""
    made = Tools(agent, make_session(agent, WORK))
    said = [{"role": "user", "content": "Between"}]
    operate(agent, made.session_id, "insert", after="m11", messages=said)
    undone = operate(agent, made.session_id, "snip", targets=["m20"])
    post(agent, f"/api/operations/{undone['operation_id']}/revert")
    targets = ["m11", "o1.0"]
    operate(agent, made.session_id, "digest", targets=targets, summary="Both")
    pattern = {
        "start": "A long plan. A long plan. A long plan.",
        "replacement": "Plans",
    }
    operate(agent, made.session_id, "replace", patterns=[{**pattern, "occurrence": 1}])
    order = {"order": ["m14", "m13"]}
    operate(agent, made.session_id, "resequence", **order)
    post(agent, f"/api/sessions/{made.session_id}/prune")
    return made


def written(tools: Tools) -> dict[str, Any]:
    found: dict[str, Any] = get(
        tools.client, f"/api/sessions/{tools.session_id}/transfer"
    )
    return found


def test_document_1_a_session_reads_the_same_elsewhere_with_its_archive(
    tools: Tools, stranger: User
) -> None:
    elsewhere = client_of(stranger, Project.objects.get(slug="other"))
    made = post(elsewhere, "/api/sessions/transfer", written(tools), expect=201)
    assert said_in(elsewhere, made["id"]) == said_in(tools.client, tools.session_id)
    here = get(tools.client, "/api/archive")["items"]
    there = get(elsewhere, "/api/archive")["items"]
    facts = ("location", "content_type", "summary", "file_paths", "tool_name", "rule")

    def told(entries: list[dict[str, Any]]) -> list[str]:
        return sorted(str([one[name] for name in facts]) for one in entries)

    assert told(here) == told(there) != []
    (view,) = [one for one in there if one["content_type"] == "file_view"]
    short = view["ref_id"].rsplit("/", 1)[-1]
    read = Tools(elsewhere, made["id"])("recall", ref_id=short, max_tokens=9000)
    assert read["content"] == FILE


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("tag", {"targets": ["o1.0"], "tags": ["first"]}),
        ("digest", {"targets": ["m11", "o1.0"], "summary": "Both"}),
        ("insert", {"after": "o1.0", "messages": [{"role": "user", "content": "C"}]}),
        ("resequence", {"order": ["m12", "m11", "o1.0"]}),
    ],
)
def test_what_names_a_message_that_was_taken_back_is_no_obstacle(
    agent: Client, kind: str, fields: dict[str, Any]
) -> None:
    session_id = make_session(agent, WORK)
    said = [{"role": "user", "content": "Alpha"}]
    undone = operate(agent, session_id, "insert", after="m11", messages=said)
    operate(agent, session_id, kind, **fields)
    post(agent, f"/api/operations/{undone['operation_id']}/revert")
    operate(agent, session_id, "insert", after="m15", messages=said)
    document = get(agent, f"/api/sessions/{session_id}/transfer")
    there = post(agent, "/api/sessions/transfer", document, expect=201)["id"]
    assert said_in(agent, there) == said_in(agent, session_id)


def test_an_entry_of_what_was_taken_back_stays_behind(agent: Client) -> None:
    session_id = make_session(agent, WORK)
    entries = []
    for words in ("Alpha", "Beta"):
        said = [{"role": "user", "content": words}]
        made = operate(agent, session_id, "insert", after="m11", messages=said)
        entries.append({"session_id": session_id, "targets": [f"{made['key']}.0"]})
        post(agent, "/api/archive", entries[-1], expect=201)
        if words == "Alpha":
            post(agent, f"/api/operations/{made['operation_id']}/revert")
    document = get(agent, f"/api/sessions/{session_id}/transfer")
    assert "Alpha" not in json.dumps(document)
    # Of a file that has it all the same, it is no entry of another operation's message.
    (entry,) = document["archive"]
    document["archive"] = [{**entry, "message": "o1.0", "summary": "Alpha"}, entry]
    there = post(agent, "/api/sessions/transfer", document, expect=201)["id"]
    (read,) = get(agent, "/api/archive", session=there)["items"]
    assert (read["message"], read["summary"]) == ("o1.0", "Beta")


def test_what_is_redacted_does_not_leave(tools: Tools) -> None:
    patterns = [{"start": "value_77 = 77", "all": True}]
    fields = {"patterns": patterns, "include_folded": True}
    operate(tools.client, tools.session_id, "redact", **fields)
    document = written(tools)
    assert "value_77 = 77" not in str(document)
    made = post(tools.client, "/api/sessions/transfer", document, expect=201)
    assert said_in(tools.client, made["id"]) == said_in(tools.client, tools.session_id)


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"format": "other"}, ["format"]),
        ({"messages": {}}, ["messages"]),
        ({"title": 3}, ["title"]),
        ({"operations": [3]}, ["operations", 0]),
        ({"operations": [{"key": "m1", "type": "snip"}]}, ["operations", 0]),
        ({"operations": [{"key": "o1", "type": "redact"}]}, ["operations", 0]),
        (
            {"operations": [{"key": "o1", "type": "snip", "payload": {"x": 1}}]},
            ["operations", 0],
        ),
        (
            {
                "operations": [
                    {"key": "o1", "type": "snip", "payload": {"targets": [3]}}
                ]
            },
            ["operations", 0],
        ),
        (
            {
                "operations": [
                    {"key": "o1", "type": "snip", "payload": {"targets": ["m999"]}}
                ]
            },
            ["operations", 0, "targets", 0],
        ),
        ({"operations": [{"key": "o1", "type": []}]}, ["operations", 0]),
        ({"operations": [{"key": "o1", "type": [1]}]}, ["type"]),
        ({"archive": [3]}, ["archive", 0]),
        ({"archive": [{"message": "m1", "content_type": [1]}]}, ["content_type"]),
    ],
)
def test_a_file_that_is_no_such_is_refused_whole(
    tools: Tools, change: dict[str, Any], at: list[Any]
) -> None:
    before = len(get(tools.client, "/api/sessions")["items"])
    refused = post(
        tools.client, "/api/sessions/transfer", written(tools) | change, expect=422
    )
    assert refused["at"] == at
    assert len(get(tools.client, "/api/sessions")["items"]) == before


def test_words_that_no_column_takes_are_taken_without_what_is_wrong_in_them(
    tools: Tools,
) -> None:
    document = written(tools)
    odd = "a\0b\ud800"
    entry = document["archive"][0]
    noted = {"summary": odd, "tool_name": odd, "file_paths": [odd]}
    entries = [{**entry, **noted}]
    operations = [{**one, "title": odd} for one in document["operations"]]
    change = {"title": odd, "model": odd, "strategy": odd, "archive": entries}
    document |= {**change, "operations": operations}

    for made in (
        post(tools.client, "/api/sessions/transfer", document, expect=201),
        imported(tools.client, document)["sessions"][0],
    ):
        shown = get(tools.client, f"/api/sessions/{made['id']}")
        assert (shown["title"], shown["model"]) == ("ab?", "")
        (kept,) = get(tools.client, "/api/archive", session=made["id"])["items"]
        assert (kept["tool_name"], kept["file_paths"]) == ("ab?", ["ab?"])


PNG = "iVBORw0KGgo="


def test_what_was_inserted_comes_with_its_images(tools: Tools, stranger: User) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    said = [{"role": "user", "content": [{"type": "image", "source": source}]}]
    operate(tools.client, tools.session_id, "insert", after="m0", messages=said)
    document = written(tools)
    assert PNG in json.dumps(document["operations"])
    elsewhere = client_of(stranger, Project.objects.get(slug="other"))
    there = post(elsewhere, "/api/sessions/transfer", document, expect=201)["id"]
    request = context(elsewhere, there, provider="anthropic")["request"]
    assert PNG in json.dumps(request)


@pytest.mark.parametrize("name", ["/etc/hostname", "../../etc/hostname", "0" * 64])
def test_an_image_in_an_operation_names_no_bytes_that_did_not_come_with_it(
    tools: Tools, name: str
) -> None:
    image = {"type": "image", "media_type": "image/png", "sha256": name}
    made = [{"role": "user", "parts": [image], "tokens": 1}]
    insert = {"key": "o1", "type": "insert"}
    insert["payload"] = {"after": "m0", "messages": made}
    document = written(tools) | {"operations": [insert]}
    refused = post(tools.client, "/api/sessions/transfer", document, expect=422)
    place = ["operations", 0, "payload", "messages", 0, "parts", 0]
    assert refused["at"][:7] == place
    image["url"] = "https://example.com/a.png"
    there = post(tools.client, "/api/sessions/transfer", document, expect=201)["id"]
    (shown,) = effective(tools.client, there, start=1, limit=1)
    assert shown["parts"][0]["url"] == "https://example.com/a.png"


@pytest.mark.parametrize(
    "wrong", [{"text": 5}, {"sha256": None}, {"saved": "1"}, {"part": "0"}]
)
def test_a_change_of_text_that_holds_something_else_is_refused(
    tools: Tools, wrong: dict[str, Any]
) -> None:
    span = {"key": "m0", "part": 0, "start": 0, "end": 1, "sha256": "", "text": ""}
    replace = {"key": "o1", "type": "replace", "payload": {"spans": [span | wrong]}}
    document = written(tools) | {"operations": [replace]}
    refused = post(tools.client, "/api/sessions/transfer", document, expect=422)
    assert refused["at"][-2:] == ["operations", 0]


def test_two_messages_with_one_short_id_are_refused(tools: Tools) -> None:
    document = written(tools)
    document["messages"][1]["short_id"] = document["messages"][0]["short_id"]
    refused = post(tools.client, "/api/sessions/transfer", document, expect=422)
    assert refused["detail"] == "Two messages have the same short id."


def test_a_name_may_be_one_that_was_drawn_for_another_message(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = written(tools)
    names = [one["short_id"] for one in document["messages"]]
    del document["messages"][0]["short_id"]
    monkeypatch.setattr(
        "threads.store.recording._draw_short_ids", lambda count: names[::-1][:count]
    )
    made = post(tools.client, "/api/sessions/transfer", document, expect=201)
    again = get(tools.client, f"/api/sessions/{made['id']}/transfer")
    first, *others = [one["short_id"] for one in again["messages"]]
    assert others == names[1:] and first not in others


def imported(client: Client, document: dict[str, Any], *, expect: int = 201) -> Any:
    file = SimpleUploadedFile("kept.session.json", json.dumps(document).encode())
    answer = client.post("/api/sessions/import", {"file": file})
    assert answer.status_code == expect, answer.content
    return answer.json()


def test_the_page_gives_the_file_and_an_import_makes_the_same_session_of_it(
    tools: Tools, editor: User, stranger: User
) -> None:
    browser = Client()
    browser.force_login(editor)
    shown = browser.get(f"/sessions/{tools.session_id}/").content.decode()
    assert f'href="/sessions/{tools.session_id}/transfer" download' in shown
    file = browser.get(f"/sessions/{tools.session_id}/transfer")
    assert file["Content-Disposition"].endswith('.session.json"')
    elsewhere = client_of(stranger, Project.objects.get(slug="other"))
    (made,) = imported(elsewhere, file.json())["sessions"]
    assert said_in(elsewhere, made["id"]) == said_in(tools.client, tools.session_id)
    here, there = (
        sorted(one["summary"] for one in get(client, "/api/archive")["items"])
        for client in (tools.client, elsewhere)
    )
    assert here == there != []
    row = Import.objects.latest("created_at")
    other = Client()
    other.force_login(stranger)
    report = other.get(f"/imports/{row.pk}/").content.decode()
    (source,) = row.sources.all()
    assert source.report["brought"] == {"operations": 9, "archive entries": 6}
    assert "operations and 6 archive entries" in report
    assert imported(elsewhere, file.json(), expect=200)["sessions"]


def test_messages_come_alone_with_a_warning_where_some_cant_be_read(
    tools: Tools,
) -> None:
    document = written(tools)
    document["messages"][3] = {"role": "nobody"}
    (made,) = imported(tools.client, document)["sessions"]
    row = Import.objects.latest("created_at")
    warnings = [one["detail"] for one in row.report["warnings"]]
    assert any("without its operations and its archive" in one for one in warnings)
    assert get(tools.client, f"/api/sessions/{made['id']}")["head"] == 0


def test_a_file_with_an_operation_that_does_not_fit_is_not_imported(
    tools: Tools,
) -> None:
    before = len(get(tools.client, "/api/sessions")["items"])
    document = written(tools)
    document["operations"][0]["type"] = "redact"
    refused = imported(tools.client, document, expect=422)
    assert "can't be transferred" in refused["detail"]
    assert refused["at"][-2:] == ["operations", 0]
    imported(tools.client, written(tools) | {"version": 2}, expect=422)
    assert len(get(tools.client, "/api/sessions")["items"]) == before


def test_a_large_file_is_staged_and_completed(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("threads.imports.AT_ONCE", 10)
    (made,) = imported(tools.client, written(tools))["sessions"]
    assert said_in(tools.client, made["id"]) == said_in(tools.client, tools.session_id)


def test_what_is_too_large_comes_without_its_operations(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("archive.transfer.reading.LARGEST", 10)
    imported(tools.client, written(tools))
    row = Import.objects.latest("created_at")
    assert "The file is over" in row.report["warnings"][0]["detail"]


def test_a_request_brings_fewer_operations_than_a_file(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("archive.transfer.reading.MAX_OPERATIONS", 8)
    document = written(tools)
    refused = post(tools.client, "/api/sessions/transfer", document, expect=422)
    assert (refused["at"], len(document["operations"])) == (["operations"], 9)
    (made,) = imported(tools.client, document)["sessions"]
    assert said_in(tools.client, made["id"]) == said_in(tools.client, tools.session_id)


def test_nobody_waits_or_sees_anything_while_a_session_is_read(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = written(tools)
    before = get(tools.client, "/api/sessions")["items"]
    outside, looked = len(connection.atomic_blocks), []

    def look(*given: Any, **named: Any) -> Any:
        looked.append(len(connection.atomic_blocks))
        assert get(tools.client, "/api/sessions")["items"] == before
        return check(*given, **named)

    def lock(session: Session) -> Session:
        inserted = LogEntry.objects.filter(session=session).count()
        looked.append(inserted - len(document["operations"]) + outside)
        return locked(session)

    check, locked = operations.check, transaction._locked
    monkeypatch.setattr(operations, "check", look)
    monkeypatch.setattr(transaction, "_locked", lock)
    post(tools.client, "/api/sessions/transfer", document, expect=201)
    assert set(looked) == {outside} and len(looked) > 4
    assert len(get(tools.client, "/api/sessions")["items"]) == len(before) + 1


def test_of_a_refused_file_nothing_is_left(
    tools: Tools, django_capture_on_commit_callbacks: Any
) -> None:
    document = written(tools)
    document["messages"][0]["parts"] = [{"type": "text", "text": "Said only here"}]
    document["archive"] = [7]
    before = [model.objects.count() for model in (Session, Body, LogEntry)]
    with django_capture_on_commit_callbacks(execute=True):
        post(tools.client, "/api/sessions/transfer", document, expect=422)
    assert [model.objects.count() for model in (Session, Body, LogEntry)] == before


def test_a_repeat_with_the_same_key_makes_no_second_session(tools: Tools) -> None:
    document = written(tools)
    made = [
        tools.client.post(
            "/api/sessions/transfer",
            document,
            content_type="application/json",
            headers={"Idempotency-Key": "once"},
        )
        for _ in range(2)
    ]
    assert made[0].json() == made[1].json()
    assert made[1]["Idempotent-Replayed"] == "true"
