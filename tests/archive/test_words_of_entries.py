"""The index of what entries say: complete at any time, and rid of what is purged."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client

from archive.entries import finding
from archive.entries.words import ENTRIES
from archive.models import EntryMark, EntryWords
from contextstudio.accounts.jobs import housekeeping
from contextstudio.accounts.models import Job, User
from operations.models import LogEntry
from tests.archive.pruning.conftest import WORK
from tests.operations.support.rest import Tools, get, make_session, post
from threads.search import word_index


@pytest.fixture(autouse=True)
def every_writer_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's own transaction is no writer that the mark waits for."""
    monkeypatch.setattr(ENTRIES.database, "all_ended_before", lambda _: True)


@pytest.fixture
def tools(agent: Client) -> Tools:
    made = Tools(agent, make_session(agent, WORK))
    post(agent, f"/api/sessions/{made.session_id}/prune")
    return made


def found(client: Client, **query: Any) -> set[str]:
    """The messages of all pages."""
    keys: list[str] = []
    cursor = ""
    while cursor is not None:
        more = {"cursor": cursor} if cursor else {}
        answer = client.get("/api/archive", {"limit": 2, **query, **more})
        assert answer.status_code == 200, answer.content
        page = answer.json()
        keys += [one["message"] for one in page["items"]]
        cursor = page["next_cursor"]
    assert len(keys) == len(set(keys))
    return set(keys)


def catch_up() -> int:
    return sum(ENTRIES.catch_up())


@pytest.mark.parametrize("is_caught_up", [False, True])
def test_entries_are_found_before_and_after_the_index_has_them(
    tools: Tools, is_caught_up: bool
) -> None:
    if is_caught_up:
        assert catch_up() == 6
        assert not ENTRIES.is_behind()
    assert found(tools.client, path="SRC/parser.py") == {"m1", "m2", "m6"}
    assert found(tools.client, path="parser.py", q="Read") == {"m1", "m2"}
    assert found(tools.client, q="VALUE_7") == {"m4"}
    assert found(tools.client, q="Ba", tool="Bash") == {"m8"}
    assert found(tools.client, q="nowhere at all") == set()
    assert found(tools.client, q="parser", session=tools.session_id) >= {"m2"}
    assert found(tools.client, q="parser", until="2020-01-01T00:00:00Z") == set()


def test_a_page_ends_after_many_entries_and_the_next_goes_on(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "MAX_EXAMINED", 1)
    monkeypatch.setattr(finding, "_AT_ONCE", 1)
    page = get(tools.client, "/api/archive", q="VALUE_7")
    assert page["items"] == []
    keys: list[str] = []
    while cursor := page["next_cursor"]:
        page = get(tools.client, "/api/archive", q="VALUE_7", cursor=cursor)
        keys += [one["message"] for one in page["items"]]
    assert keys == ["m4"]


@pytest.mark.parametrize("cursor", ["WzBd", "WyJ4Il0", "WzEsMl0"])
def test_a_cursor_of_another_list_is_refused(tools: Tools, cursor: str) -> None:
    get(tools.client, "/api/archive", q="parser", cursor=cursor, expect=422)


def test_what_is_archived_again_is_found_by_its_new_words(tools: Tools) -> None:
    catch_up()
    (kept,) = EntryWords.objects.filter(entry__message_key="m2")
    body = {"session_id": tools.session_id, "targets": ["m2"]}
    post(tools.client, "/api/archive", body, expect=201)
    assert not EntryWords.objects.filter(pk=kept.pk).exists()
    (new,) = EntryWords.objects.filter(entry__message_key="m2", entry__location="")
    assert new.pk > kept.pk
    assert kept.pk not in set(ENTRIES.candidates("parser"))


def test_a_purge_takes_the_words_out_of_the_index(tools: Tools) -> None:
    catch_up()
    assert set(ENTRIES.candidates("parser"))
    tools("remove_group", group_id=1)
    assert not EntryWords.objects.exists()
    assert set(ENTRIES.candidates("parser")) == set()
    assert EntryMark.objects.get().forgotten == 6
    assert ENTRIES.is_behind()
    catch_up()
    assert EntryMark.objects.get().forgotten == 0
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM archive_entrytext_terms")
            assert cursor.fetchone() == (0,)


def test_a_purge_takes_the_words_out_of_condensed_lines(tools: Tools) -> None:
    def payloads() -> str:
        rows = LogEntry.objects.filter(kind="condense").values_list(
            "payload", flat=True
        )
        return b"".join(map(bytes, rows)).decode()

    assert "A long plan." in payloads()
    assert "test_parser" in payloads()
    tools("remove_group", group_id=1)
    assert "A long plan." not in payloads()
    assert "test_parser" not in payloads()
    shown = get(tools.client, f"/api/sessions/{tools.session_id}/operations")
    assert "A long plan." not in str(shown)


def test_an_erased_session_takes_its_words_along(tools: Tools) -> None:
    catch_up()
    tools.client.delete(f"/api/sessions/{tools.session_id}?purge=1")
    assert not EntryWords.objects.exists()
    assert set(ENTRIES.candidates("parser")) == set()


def test_without_an_index_every_entry_is_read(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ENTRIES.database, "has_tables", lambda: False)
    assert catch_up() == 0
    assert found(tools.client, q="VALUE_7") == {"m4"}


def test_housekeeping_has_the_index_caught_up(tools: Tools, owner: User) -> None:
    for index in word_index.registered():
        list(index.catch_up())
    Job.objects.filter(kind="index").delete()
    session_id = make_session(tools.client, WORK)
    list(word_index.registered()[0].catch_up())
    Job.objects.filter(kind="index").delete()
    post(tools.client, f"/api/sessions/{session_id}/prune")
    housekeeping.clean()
    assert Job.objects.filter(kind="index").exists()
