"""Large files are read in a process of their own: what it tells, and what becomes of it."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path

import pytest

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.models import Project
from tests.threads.support.importing import kept, outcomes
from tests.threads.support.specimens import SPECIMENS
from tests.threads.support.transcripts import lines
from threads import imports, reading
from threads.domain import formats
from threads.domain.batch import batches
from threads.models import Message, Session
from threads.reading import Fault, opened, worker
from threads.reading.protocol import Asked
from threads.reading.shared_buffers import COUNT, SIZE, Slots, TooLarge, share

SAID = [{"role": ("user", "assistant")[n % 2], "content": f"{n}"} for n in range(9_000)]


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """More than fits in what waits between two processes."""
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b"".join(lines(one | {"content": "x" * 500}) for one in SAID))
    return path


@pytest.fixture
def none_waits() -> Iterator[None]:
    """No reader is left over from another test, nor to one."""
    _end_all()
    yield
    _end_all()


def _end_all() -> None:
    while reading._kept:
        reading._kept.pop().end()


def waiting() -> int:
    """The process that waits for the next file."""
    [reader] = reading._kept
    return reader._process.pid


def all_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGE", 1)
    monkeypatch.setattr(reading, "WORTH", 1)


def test_a_middling_file_is_given_to_a_process_that_waits_anyway(
    none_waits: None, talk: Path
) -> None:
    sizes = (reading.WORTH - 1, reading.WORTH, reading.LARGE)
    assert list(map(reading.pays, sizes)) == [False, False, True]
    with opened(talk, "auto", "talk"):
        pass
    assert list(map(reading.pays, sizes)) == [False, True, True]
    reading._kept[0]._process.kill()
    reading._kept[0]._process.wait()
    assert list(map(reading.pays, sizes)) == [False, False, True]


@pytest.mark.parametrize("name", sorted(SPECIMENS))
def test_a_file_reads_the_same_in_a_process_of_its_own(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "talk"
    path.write_bytes(SPECIMENS[name])
    with path.open("rb") as file, opened(path, "auto", "talk") as apart:
        here = formats.read(file, "auto", "talk")
        assert len(apart) == len(here) > 0
        for one, other in zip(apart, here, strict=True):
            facts = ("title", "external_id", "model", "parent", "format", "strategy")
            assert [getattr(one, f) for f in facts] == [
                getattr(other, f) for f in facts
            ]
            assert list(one.items.batches()) == list(batches(other.items))  # type: ignore[attr-defined]
            assert one.warnings == other.warnings
            assert list(one.items) == list(other.items)
            assert one.warnings == other.warnings


def test_the_process_stays_for_the_next_file(none_waits: None, talk: Path) -> None:
    with opened(talk, "auto", "talk") as found:
        assert sum(len(one.digests) for one in found[0].items.batches()) == 9_000  # type: ignore[attr-defined]
    first = waiting()
    with opened(talk, "auto", "talk"):
        assert not reading._kept
    assert waiting() == first


def test_a_second_reader_is_not_kept(none_waits: None, talk: Path) -> None:
    with opened(talk, "auto", "a"), opened(talk, "auto", "b"):
        pass
    assert len(reading._kept) == 1


def test_a_refusal_is_the_same_and_costs_no_process(
    none_waits: None, tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Nothing that anybody said.")
    pids = set()
    for _ in range(2):
        with pytest.raises(Invalid) as refusal, opened(path, "auto", "notes.txt"):
            pass
        pids.add(waiting())
        assert refusal.value.code == "format_unknown"
    assert len(pids) == 1


def test_what_could_not_be_read_is_warned_of_once_it_was_told(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cut.json"
    path.write_bytes(json.dumps(SAID).encode()[:-100])
    with opened(path, "auto", "cut.json") as [transcript]:
        assert not transcript.warnings
        list(transcript.items.batches())  # type: ignore[attr-defined]
        assert transcript.warnings[-1].code == "json_truncated"


def test_whoever_leaves_a_file_in_its_midst_ends_its_process(
    none_waits: None, talk: Path
) -> None:
    with pytest.raises(KeyError), opened(talk, "auto", "talk") as found:
        next(found[0].items.batches())  # type: ignore[attr-defined]
        raise KeyError
    assert not reading._kept


def test_what_fits_in_no_slot_is_told_all_the_same(
    none_waits: None, tmp_path: Path
) -> None:
    path = tmp_path / "long.jsonl"
    said = [SAID[0] | {"content": "x" * length} for length in (3, SIZE, 5, SIZE, 7)]
    path.write_bytes(lines(*said))
    for _ in range(2):
        with opened(path, "auto", "long") as [transcript]:
            told = list(transcript.items.batches())  # type: ignore[attr-defined]
            assert told == list(batches(transcript.items, growing=True))
            sizes = [len(content) for one in told for content in one.contents]
            assert [size // SIZE for size in sizes] == [0, 1, 0, 1, 0]


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_slots_keep_what_was_laid_into_them_apart(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    slots = slots_of_our_own()
    laid = [b"%d" % slot * (SIZE // 2) for slot in range(COUNT)]
    written = [slots.write(slot, laid[slot]) for slot in range(COUNT)]
    with pytest.raises(TooLarge):
        slots.write(1, b"x" * SIZE)
    assert [slots.load(one) for one in written[2:]] == laid[2:]
    assert slots.load(slots.write(1, "again")) == "again"
    assert slots.load(written[0]) == laid[0]
    slots.close()


def test_a_process_that_is_killed_is_a_fault(none_waits: None, talk: Path) -> None:
    with opened(talk, "auto", "talk"):
        pass
    pid = waiting()
    with pytest.raises(Fault), opened(talk, "auto", "talk") as found:
        told = found[0].items.batches()  # type: ignore[attr-defined]
        next(told)
        os.kill(pid, signal.SIGKILL)
        list(told)
    assert not reading._kept


def test_one_that_ended_while_it_waited_is_replaced(
    none_waits: None, talk: Path
) -> None:
    with opened(talk, "auto", "talk"):
        pass
    first = reading._kept[0]._process
    first.kill()
    first.wait()
    with opened(talk, "auto", "talk") as found:
        assert found
    assert waiting() != first.pid


def test_a_file_that_is_gone_is_a_fault(none_waits: None, tmp_path: Path) -> None:
    with pytest.raises(Fault), opened(tmp_path / "gone", "auto", "gone"):
        pass


def asked(*questions: object) -> list[object]:
    """What the worker tells to these questions, asked in this process."""
    ours, theirs = Pipe()
    slots = slots_of_our_own()
    for question in questions:
        ours.send(question)
    told = []
    with ours:
        if questions:
            worker._answer(theirs, slots, theirs.recv())
            while ours.poll():
                told.append(ours.recv())
    theirs.close()
    slots.close()
    return told


def slots_of_our_own() -> Slots:
    shared = share()
    try:
        return Slots(shared)
    finally:
        os.close(shared)


def test_a_parser_that_stumbles_is_told_with_its_kind(
    monkeypatch: pytest.MonkeyPatch, talk: Path
) -> None:
    def stumble(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(formats, "read", stumble)
    [fault] = asked(Asked(talk, "auto", "talk"))
    assert isinstance(fault, Fault)
    assert fault.kind == "ZeroDivisionError"
    assert "stumble" in str(fault)


def test_the_process_ends_when_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PATIENCE", 0.0)
    ours, theirs = Pipe()
    shared = share()
    with ours:
        worker.main(os.dup(theirs.fileno()), shared)
    monkeypatch.setattr(worker, "PATIENCE", 60.0)
    worker.main(os.dup(theirs.fileno()), shared)  # nobody is there any more
    theirs.close()
    os.close(shared)


def test_what_cannot_be_read_apart_is_named_and_stops_no_other(
    none_waits: None,
    caller: Caller,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    all_is_large(monkeypatch)
    ask = reading._ask

    def broken(asked: Asked) -> object:
        if asked.name == "a.json":
            raise Fault("end of the process that read it")
        return ask(asked)

    monkeypatch.setattr(reading, "_ask", broken)
    large = json.dumps({"messages": SAID[:100]}).encode()
    upload = kept({"a.json": large, "b.json": large})
    done = imports.import_upload(caller, project, upload)
    assert outcomes(done.row) == {"a.json": "failed", "b.json": "created"}
    reason = done.row.sources.get(name="a.json").report["reason"]
    assert "an unexpected end of the process that read it" in reason
    assert Message.objects.filter(session=done.sessions[0]).count() == 100


def test_a_longer_version_of_a_large_file_is_appended(
    caller: Caller, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_is_large(monkeypatch)
    for count in (100, 150, 150):
        document = {"session_id": "talk", "messages": SAID[:count]}
        upload = kept(json.dumps(document).encode())
        imports.import_upload(caller, project, upload)
    session = Session.objects.get(external_id="talk")
    assert session.message_count == 150
