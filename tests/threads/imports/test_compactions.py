"""Compactions of a transcript become operations by the import."""

import json

import pytest

from contextstudio.accounts.domain.caller import Caller
from operations.context.services import ContextQuery, assemble_session
from operations.models import LogEntry
from tests.threads.support.importing import Take, shown, texts
from tests.threads.support.stub_format import says, stub
from threads.models import Event


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
    entries = LogEntry.objects.order_by("number")
    assert list(entries.values_list("number", "kind")) == [
        (1, "digest"),
        (2, "digest"),
    ]
    assert shown(session) == ["One to three.", "4"]


def test_a_compaction_that_would_cut_through_somebodys_fold_waits_as_a_proposal(
    take: Take, caller: Caller
) -> None:
    from operations.domain.log.operation import Snip
    from operations.edits import services

    short = stub(*says("1", "2", "3"), id="a")
    (session,) = take(short).sessions
    edit = Snip(targets=("m1", "m2"))
    services.record_edit(caller, session.pk, edit)
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


def test_what_a_tool_took_out_without_a_word_is_a_snip(take: Take) -> None:
    imported = take(stub(*says("1", "2", "3"), {"compact": [1, 2], "into": []}, id="a"))
    (session,) = imported.sessions
    assert LogEntry.objects.get().kind == "snip"
    assert shown(session) == ["1"]
    assert imported.row.report["compactions"] == {"snip": 1}


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_model_reads_a_tools_summary_as_its_own_client_gave_it(
    take: Take, provider: str
) -> None:
    compact = {"compact": [0, 1], "into": ["Counted to two."]}
    (session,) = take(
        stub(*says("one", "two"), compact, *says("three"), id="a")
    ).sessions
    sent = assemble_session(session, ContextQuery(provider=provider))
    said = json.dumps(sent.compiled.messages)
    assert "Counted to two." in said and "<summary>" not in said
    assert {one["role"] for one in sent.compiled.messages} == {"user"}
