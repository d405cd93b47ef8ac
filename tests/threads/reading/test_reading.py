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
from threads.reading import ReaderFault, open_transcripts, worker
from threads.reading.protocol import (
    COUNT,
    SIZE,
    BatchTooLarge,
    ReadRequest,
    SharedBuffers,
    allocate,
)

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
    while reading._idle:
        reading._idle.pop().end()


def waiting() -> int:
    """The process that waits for the next file."""
    [reader] = reading._idle
    return reader._process.pid


def all_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGE", 1)
    monkeypatch.setattr(reading, "LARGE_ENOUGH", 1)


def test_a_middling_file_is_given_to_a_process_that_waits_anyway(
    none_waits: None, talk: Path
) -> None:
    sizes = (reading.LARGE_ENOUGH - 1, reading.LARGE_ENOUGH, reading.LARGE)
    assert list(map(reading.is_worthwhile, sizes)) == [False, False, True]
    with open_transcripts(talk, "auto", "talk"):
        pass
    assert list(map(reading.is_worthwhile, sizes)) == [False, True, True]
    reading._idle[0]._process.kill()
    reading._idle[0]._process.wait()
    assert list(map(reading.is_worthwhile, sizes)) == [False, False, True]


@pytest.mark.parametrize("name", sorted(SPECIMENS))
def test_a_file_reads_the_same_in_a_process_of_its_own(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "talk"
    path.write_bytes(SPECIMENS[name])
    with path.open("rb") as file, open_transcripts(path, "auto", "talk") as apart:
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
    with open_transcripts(talk, "auto", "talk") as found:
        assert sum(len(one.digests) for one in found[0].items.batches()) == 9_000  # type: ignore[attr-defined]
    first = waiting()
    with open_transcripts(talk, "auto", "talk"):
        assert not reading._idle
    assert waiting() == first


def test_where_a_large_file_s_text_went_is_counted_in_the_same_process(
    none_waits: None, talk: Path
) -> None:
    with open_transcripts(talk, "auto", "talk.jsonl"):
        pass
    first = waiting()
    counted = reading.count_leaves(talk, "auto", "talk.jsonl")
    assert waiting() == first
    assert (counted.messages, counted.nowhere) == (0, 0)  # no leaf is two words
    with pytest.raises(Invalid):
        reading.count_leaves(talk, "unheard_of", "talk.jsonl")


def test_a_second_reader_is_not_kept(none_waits: None, talk: Path) -> None:
    with open_transcripts(talk, "auto", "a"), open_transcripts(talk, "auto", "b"):
        pass
    assert len(reading._idle) == 1


def test_a_refusal_is_the_same_and_costs_no_process(
    none_waits: None, tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Nothing that anybody said.")
    pids = set()
    for _ in range(2):
        with (
            pytest.raises(Invalid) as refusal,
            open_transcripts(path, "auto", "notes.txt"),
        ):
            pass
        pids.add(waiting())
        assert refusal.value.code == "format_unknown"
    assert len(pids) == 1


def test_what_could_not_be_read_is_warned_of_once_it_was_told(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cut.json"
    path.write_bytes(json.dumps(SAID).encode()[:-100])
    with open_transcripts(path, "auto", "cut.json") as [transcript]:
        assert not transcript.warnings
        list(transcript.items.batches())  # type: ignore[attr-defined]
        assert transcript.warnings[-1].code == "json_truncated"


def test_whoever_leaves_a_file_in_its_midst_ends_its_process(
    none_waits: None, talk: Path
) -> None:
    with pytest.raises(KeyError), open_transcripts(talk, "auto", "talk") as found:
        next(found[0].items.batches())  # type: ignore[attr-defined]
        raise KeyError
    assert not reading._idle


def test_what_fits_in_no_buffer_arrives_all_the_same(
    none_waits: None, tmp_path: Path
) -> None:
    path = tmp_path / "long.jsonl"
    said = [SAID[0] | {"content": "x" * length} for length in (3, SIZE, 5, SIZE, 7)]
    path.write_bytes(lines(*said))
    for _ in range(2):
        with open_transcripts(path, "auto", "long") as [transcript]:
            told = list(transcript.items.batches())  # type: ignore[attr-defined]
            assert told == list(batches(transcript.items, growing=True))
            sizes = [len(content) for one in told for content in one.contents]
            assert [size // SIZE for size in sizes] == [0, 1, 0, 1, 0]


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_buffers_keep_what_was_written_into_them_apart(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    buffers = own_buffers()
    values = [b"%d" % buffer * (SIZE // 2) for buffer in range(COUNT)]
    written = [buffers.write(buffer, values[buffer]) for buffer in range(COUNT)]
    with pytest.raises(BatchTooLarge):
        buffers.write(1, b"x" * SIZE)
    assert [buffers.load(one) for one in written[2:]] == values[2:]
    assert buffers.load(buffers.write(1, "again")) == "again"
    assert buffers.load(written[0]) == values[0]
    buffers.close()


def test_a_process_that_is_killed_is_a_fault(none_waits: None, talk: Path) -> None:
    with open_transcripts(talk, "auto", "talk"):
        pass
    pid = waiting()
    with pytest.raises(ReaderFault), open_transcripts(talk, "auto", "talk") as found:
        told = found[0].items.batches()  # type: ignore[attr-defined]
        next(told)
        os.kill(pid, signal.SIGKILL)
        list(told)
    assert not reading._idle


def test_one_that_ended_while_it_waited_is_replaced(
    none_waits: None, talk: Path
) -> None:
    with open_transcripts(talk, "auto", "talk"):
        pass
    first = reading._idle[0]._process
    first.kill()
    first.wait()
    with open_transcripts(talk, "auto", "talk") as found:
        assert found
    assert waiting() != first.pid


def test_a_file_that_is_gone_is_a_fault(none_waits: None, tmp_path: Path) -> None:
    with (
        pytest.raises(ReaderFault),
        open_transcripts(tmp_path / "gone", "auto", "gone"),
    ):
        pass


def asked(*questions: object) -> list[object]:
    """What the worker tells to these questions, asked in this process."""
    ours, theirs = Pipe()
    buffers = own_buffers()
    for question in questions:
        ours.send(question)
    told = []
    with ours:
        if questions:
            worker._answer(theirs, buffers, theirs.recv())
            while ours.poll():
                told.append(ours.recv())
    theirs.close()
    buffers.close()
    return told


def own_buffers() -> SharedBuffers:
    shared = allocate()
    try:
        return SharedBuffers(shared)
    finally:
        os.close(shared)


def test_a_parser_that_stumbles_is_told_with_its_kind(
    monkeypatch: pytest.MonkeyPatch, talk: Path
) -> None:
    def stumble(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(formats, "read", stumble)
    [fault] = asked(ReadRequest(talk, "auto", "talk"))
    assert isinstance(fault, ReaderFault)
    assert fault.kind == "ZeroDivisionError"
    assert "stumble" in str(fault)


def test_the_process_ends_when_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PATIENCE", 0.0)
    ours, theirs = Pipe()
    shared = allocate()
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
    ask = reading._send

    def broken(asked: ReadRequest) -> object:
        if asked.name == "a.json":
            raise ReaderFault("end of the process that read it")
        return ask(asked)

    monkeypatch.setattr(reading, "_send", broken)
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
