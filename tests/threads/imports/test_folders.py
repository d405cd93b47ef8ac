"""Folders and packed files are one import with one report."""

import gzip
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.importing import Take, kept, outcomes, texts
from tests.threads.support.packing import zipped
from tests.threads.support.stub_format import FORMAT, says, stub
from threads import imports
from threads.domain import formats
from threads.imports.upload import keep_upload
from threads.models import Event, Import, Message, Session, Source
from threads.store import blobs, records


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


def test_a_folder_without_a_message_is_refused_with_what_each_file_is(
    take: Take,
) -> None:
    with pytest.raises(Invalid) as refusal:
        take({"a.txt": b"words", "b.txt": b"", "c.txt": b"more"})
    assert refusal.value.message == (
        "There is no message in these 3 files. "
        "a.txt, c.txt: This is text, but not a transcript that ContextStudio knows. "
        "b.txt: This is an empty file."
    )


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
    monkeypatch.setattr("threads.domain.tally.MAX_WARNINGS", 3)
    imported = take(stub(*says("one"), id="a") + b"{broken\n" * 10)
    (code,) = imported.row.report["codes"]
    assert imported.row.report["codes"][code] == 10
    assert [one["line"] for one in imported.row.report["warnings"]] == [3, 4, 5]


def test_what_a_file_makes_up_does_not_swell_or_break_the_report(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("threads.domain.tally.MAX_TYPES", 2)
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


def test_a_fault_of_a_format_stops_no_file(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError

    bad = replace(FORMAT, name="bad", score=lambda sample: 0, gather=fail)
    monkeypatch.setattr(formats, "ALL_FORMATS", (bad, *formats.ALL_FORMATS))
    files = {"a.stub": stub(*says("one"), id="a"), "b.stub": stub(*says("two"))}
    assert len(take(files).sessions) == 2
    worse = replace(FORMAT, read=fail, gather=None)
    monkeypatch.setattr(formats, "ALL_FORMATS", (worse, *formats.ALL_FORMATS))
    with pytest.raises(Invalid) as refusal:
        take(stub(*says("three"), id="c"))
    assert refusal.value.code == "unreadable"


def test_a_folder_in_which_an_archive_is_bad_says_so_in_the_report(take: Take) -> None:
    files = {"a.stub": stub(*says("one"), id="a"), "b.zip": b"PK\x03\x04 cut"}
    imported = take(files)
    assert outcomes(imported.row) == {"a.stub": "created", "b.zip": "failed"}


def test_the_bytes_of_every_file_are_kept(take: Take) -> None:
    files = {"a.stub": stub(*says("one"), id="a"), "note.txt": b"words"}
    imported = take(files)
    for source in imported.row.sources.all():
        assert blobs.read(source.sha256) == files[source.name]
    assert json.loads(blobs.read(kept(files).sha256))
    assert Source.objects.count() == 2


def test_files_that_are_no_transcripts_are_named_in_few_statements(
    take: Take, django_assert_max_num_queries: Any
) -> None:
    talk = {"z.stub": stub(*says("one"), id="a")}
    files = {f"{n:03}.txt": b"no transcript %d" % n for n in range(200)}
    # One that asks whether it is here already is for each of them.
    with django_assert_max_num_queries(len(files) + 60):
        imported = take(files | talk)
    found = outcomes(imported.row)
    assert sorted(found) == [*files, "z.stub"]
    assert {*found.values()} == {"other", "created"}


def test_an_archive_of_many_files_is_not_unpacked_to_see_that_it_is_no_quick_import(
    data_folder: Path,
) -> None:
    members = [
        (f"{n}.txt", b"no transcript %d" % n) for n in range(imports.QUICK_FILES)
    ]
    packed = zipped(*members, ("a.stub", stub(*says("one"), id="a")))
    upload = keep_upload(io.BytesIO(packed), name="all.zip")
    kept_files = len([*data_folder.rglob("*")])
    assert not imports.is_quick(upload)
    assert len([*data_folder.rglob("*")]) == kept_files
