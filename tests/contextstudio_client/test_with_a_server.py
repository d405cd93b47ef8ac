"""The client against a real server, blocking and awaiting."""

import asyncio
import gc
import json
import uuid
from typing import Any

import pytest

from contextstudio_client import (
    AsyncClient,
    Conflict,
    Invalid,
    NotFound,
    NotSent,
    Retries,
    Unauthenticated,
    shapes,
)
from tests.servers import Server

from .support import opened, said


@pytest.fixture
def session(studio: Any) -> Any:
    with studio.session(external_id=str(uuid.uuid4()), title="A run") as session:
        session.append(said(6))
        return session


def test_a_session_is_made_once_and_found_by_its_external_id(studio: Any) -> None:
    name = str(uuid.uuid4())
    with studio.session(external_id=name, project="demo", title="A run") as made:
        assert made.info().title == "A run"
    with studio.session(external_id=name) as found:
        assert found.id == made.id
    assert [one.id for one in studio.sessions.list(external_id=name)] == [made.id]
    assert studio.sessions.get(made.id) == made.info()


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_an_awaiting_client_goes_from_one_event_loop_to_the_next(
    server: Server,
) -> None:
    client = AsyncClient(server.url, server.key(), retries=Retries(attempts=1))
    for _ in range(3):
        assert asyncio.run(client.sessions.list(limit=1)).items
    asyncio.run(client.close())
    with pytest.raises(NotSent, match="The client is closed"):
        asyncio.run(client.tools())
    gc.collect()  # by which alone connections are closed whose loop has ended


def test_what_is_applied_is_recorded_and_the_reply_appended_once(session: Any) -> None:
    applied = session.apply(said(7), model="gpt-4o")
    assert applied.messages == said(7)
    assert (applied.message_count, applied.session_id) == (7, session.id)
    reply = said(8)[7:]
    assert session.append(reply, expected_count=7).message_count == 8
    with pytest.raises(Conflict) as raised:
        session.append(reply, expected_count=7)
    assert raised.value.code == "stale_count"
    again = session.apply(said(8))
    assert (again.message_count, again.messages) == (8, said(8))


def test_an_operation_counts_from_the_next_apply_on(studio: Any, session: Any) -> None:
    digest = session.record("digest", start_idx=1, end_idx=4, summary="Four messages.")
    assert (digest.key, digest.resolved.count, digest.status) == ("o1", 4, "applied")
    applied = session.apply(said(6))
    assert len(applied.messages) == 3
    assert applied.applied == [digest.operation_id]
    assert applied.tokens.before != applied.tokens.after
    [listed] = session.operations(active_only=True).operations
    assert (listed.id, listed.status) == (digest.operation_id, "applied")
    assert studio.operations.toggle(listed.id, False).head == 2
    assert session.apply(said(6)).messages == said(6)
    assert studio.operations.amend(listed.id, summary="Four of them.").head == 3
    assert "Four of them." in str(studio.operations.get(listed.id))
    assert studio.operations.revert(listed.id).head == 4
    assert session.undo().head == 5
    assert session.redo().head == 6


def test_a_snapshot_is_gone_back_to(session: Any) -> None:
    taken = session.take_snapshot("At first")
    assert (taken.head, taken.message_count) == (0, 6)
    session.record("snip", start_idx=1, end_idx=4)
    assert len(session.context().messages) == 2
    assert len(session.context(snapshot="At first").messages) == 6
    with pytest.raises(Conflict) as raised:
        session.restore_snapshot("At first", expected_head=0)
    assert raised.value.code == "stale_head"
    assert session.restore_snapshot("At first").head == 2
    assert session.apply(said(6)).messages == said(6)
    assert session.snapshots() == [taken]
    session.delete_snapshot("At first")
    assert session.snapshots() == []


def test_a_bundle_is_recorded_as_one_and_switched_as_one(
    studio: Any, session: Any
) -> None:
    edits = [
        {"type": "snip", "start_idx": 0, "end_idx": 0},
        {"type": "tag", "start_idx": 2, "end_idx": 3, "tags": ["x"]},
    ]
    bundle = session.bundle(edits, title="Two")
    assert [one.type for one in bundle.operations] == ["snip", "tag"]
    assert studio.bundles.toggle(bundle.bundle_id, False).head == 3
    assert len(session.apply(said(6)).messages) == 6


def test_a_proposal_waits_until_it_is_accepted_or_rejected(
    studio: Any, session: Any
) -> None:
    fields = {"start_idx": 0, "end_idx": 1, "propose": True}
    one, other = (session.record("snip", **fields) for _ in range(2))
    assert {one.status, other.status} == {"proposed"}
    studio.operations.reject(other.operation_id)
    assert len(session.apply(said(6)).messages) == 6
    studio.operations.accept(one.operation_id)
    assert len(session.apply(said(6)).messages) == 4
    edits = [
        {"type": "snip", "start_idx": at, "end_idx": at + 1, "propose": True}
        for at in (1, 3)
    ]
    bundle = session.bundle(edits)
    accepted = studio.bundles.accept(bundle.bundle_id, skip_conflicts=True)
    assert [warning.code for warning in accepted.warnings] == ["skipped"]
    assert len(session.apply(said(6)).messages) == 2


def test_a_conflict_says_what_would_work(session: Any) -> None:
    session.record("digest", start_idx=1, end_idx=3, summary="Three.")
    with pytest.raises(Conflict) as raised:
        session.record("digest", start_idx=2, end_idx=4, summary="Across.")
    assert raised.value.operations == ["o1"]
    needs = raised.value.needs
    wider = {"start_idx": needs["first"], "end_idx": needs["last"]}
    assert session.record("digest", **wider, summary="All.").resolved.count == 4


def test_reading_a_session(session: Any) -> None:
    assert [one.content for one in session.messages(2, 4)] == ["message 2", "message 3"]
    assert session.thread("effective", start=1, limit=2)["total"] == 6
    context = session.context("anthropic", model="claude-sonnet-4-5", max_tokens=1)
    assert (context.provider, context.over_budget) == ("anthropic", True)
    assert context.tokens.sent == context.steps[-1].after
    exported = json.loads(session.export("openai", "effective"))
    assert exported["messages"] == said(6)
    found = session.dry_run(
        "replace",
        patterns=[{"start": "message", "end": "3", "replacement": "three"}],
    )
    assert found["dry_run"]


def test_changing_deleting_and_restoring_a_session(studio: Any, session: Any) -> None:
    changed = session.update(title="Named", objective="Count boats")
    assert (changed.title, changed.objective) == ("Named", "Count boats")
    session.delete()
    with pytest.raises(NotFound):
        session.info()
    assert session.restore().message_count == 6
    session.delete(purge=True)
    with pytest.raises(NotFound):
        session.restore()


def test_tools_are_listed_and_called_by_name(studio: Any, session: Any) -> None:
    names = {one["name"] for one in studio.tools(["edit"], format="anthropic")}
    assert "digest_messages" in names
    assert "recall" not in names
    assert len(studio.tools()) > len(names)
    recorded = session.tool(
        "digest_messages", shapes.Recorded, start_idx=0, end_idx=1, summary="Two."
    )
    assert recorded.type == "digest"
    listed = studio.tool("list_operations", session_id=session.id)
    assert [one["key"] for one in listed["operations"]] == ["o1"]
    with pytest.raises(NotFound):
        studio.tool("no_such_tool")
    with pytest.raises(Invalid) as raised:
        session.tool("snip_messages", start_idx=-1, end_idx=0)
    assert raised.value.at


def test_any_other_request_can_be_made(studio: Any, session: Any) -> None:
    where = f"/api/sessions/{session.id}/lenses/brief"
    assert studio.request("PUT", where, {"tags": ["x"]})["tags"] == ["x"]
    assert studio.request("GET", where)["name"] == "brief"
    assert studio.request("GET", "/api/search", q="message 3", session=session.id)[
        "items"
    ]


def test_a_wrong_key_is_refused(kind: str, server: Server) -> None:
    with opened(kind, server.url, "cs_wrong") as client, pytest.raises(Unauthenticated):
        client.sessions.list()
