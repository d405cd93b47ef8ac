"""Files on their way in."""

import gc
import hashlib
import os
from pathlib import Path

import pytest
from django.http.multipartparser import MultiPartParserError
from django.test import RequestFactory

from threads.store import blobs
from threads.store.blobs import ReceivedFile, Receiver

DATA = b"some words"


def receive(*pieces: bytes) -> ReceivedFile:
    receiver = Receiver()
    receiver.new_file("file", "a.txt", "text/plain", None)
    for piece in pieces:
        receiver.receive_data_chunk(piece, 0)
    received = receiver.file_complete(sum(map(len, pieces)))
    assert received is not None
    return received


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_file_that_is_kept_lies_under_its_hash(data_folder: Path) -> None:
    received = receive(DATA[:4], DATA[4:])
    sha256, size = received.keep()
    assert (sha256, size) == (hashlib.sha256(DATA).hexdigest(), len(DATA))
    assert received.keep() == (sha256, size)
    received.close()
    assert blobs.read(sha256) == DATA
    assert files(data_folder / "blobs") == [blobs.path_of(sha256)]


def test_a_file_that_nobody_keeps_is_gone_with_the_request(data_folder: Path) -> None:
    receive(DATA).close()
    assert files(data_folder) == []


def test_a_file_that_breaks_off_is_gone(data_folder: Path) -> None:
    receiver = Receiver()
    receiver.upload_interrupted()
    receiver.receive_data_chunk(DATA, 0)
    assert receiver.file_complete(0) is None
    receiver.new_file("file", "a.txt", "text/plain", None)
    receiver.receive_data_chunk(DATA, 0)
    receiver.upload_interrupted()
    assert files(data_folder) == []


def test_a_form_that_cannot_be_read_leaves_none_of_its_files(data_folder: Path) -> None:
    part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n'
    broken = f"{part}\r\nwhole\r\n{part}Content-Transfer-Encoding: base64\r\n\r\n!x"
    kind = "multipart/form-data; boundary=b"
    request = RequestFactory().post("/", broken.encode(), content_type=kind)
    with pytest.raises(MultiPartParserError):
        _ = request.FILES
    del request
    gc.collect()
    assert files(data_folder) == []


def test_many_blobs_can_be_open_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "_MAX_OPEN", 2)
    texts = [f"line {n}\nmore\n".encode() for n in range(6)]
    streams = [blobs.open_many(blobs.store(text)) for text in texts]
    for _round in range(2):
        for text, stream in zip(texts, streams, strict=True):
            assert stream.seek(-5, 2) == len(text) - 5
            assert stream.read() == b"more\n"
            stream.seek(0)
            assert stream.readline() + stream.read() == text
    for text in texts:
        blobs.discard(hashlib.sha256(text).hexdigest())
    with pytest.raises(FileNotFoundError):
        blobs.open_many("0" * 64)


def test_nothing_is_left_of_bytes_that_break_off(data_folder: Path) -> None:
    def pieces() -> object:
        yield DATA
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        blobs.store_pieces(pieces())  # type: ignore[arg-type]
    assert files(data_folder) == []


def test_many_files_are_kept_together_and_each_once(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs.store(b"here before")
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with blobs.storing_many() as store:
        hashes = [store([word])[0] for word in (b"one", b"two", b"here before")]
    assert [blobs.read(sha256) for sha256 in hashes] == [b"one", b"two", b"here before"]
    assert len(synced) == 2
    assert len(files(data_folder / "blobs")) == 3


def test_files_that_can_not_be_synced_are_not_kept(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"), blobs.storing_many() as store:
        store([DATA])
    assert files(data_folder) == []


def test_the_beginning_of_a_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "grows"
    path.write_bytes(DATA)
    for _again in range(2):
        sha256, size = blobs.store_beginning(path, 4)
        assert (blobs.read(sha256), size) == (b"some", 4)
    assert blobs.store_beginning(path, 99)[1] == len(DATA)


@pytest.mark.parametrize("name", ["", "/etc/hostname", "../a", "A" * 64, "0" * 65])
def test_what_is_no_hash_names_no_file(data_folder: Path, name: str) -> None:
    for use in (blobs.path_of, blobs.read, blobs.open_blob, blobs.open_many):
        with pytest.raises(FileNotFoundError, match="not a SHA-256"):
            use(name)
