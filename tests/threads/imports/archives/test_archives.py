"""Unpacking what files come packed in, and refusing what is no more than a trap."""

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable

import pytest
import zstandard

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.packing import brought, codes, contents, zipped
from threads.imports import archives
from threads.imports.archives import ArchiveTooLarge
from threads.imports.archives.names import FileNames, clean_name
from threads.imports.upload import keep_folder, unpack
from threads.store import blobs

WORDS = b"Why does the tide table jump?\n" * 50


def zipped_by_zstandard(name: str, data: bytes) -> bytes:
    """A zip archive with one member of method 93, which `zipfile` does not write."""
    packed = zstandard.ZstdCompressor().compress(data)
    made = bytearray(zipped((name, packed), method=zipfile.ZIP_STORED))
    central = made.index(b"PK\x01\x02")
    for place, crc in ((0, 14), (central, 16)):
        struct.pack_into("<H", made, place + crc - 6, 93)
        struct.pack_into("<L", made, place + crc, zlib.crc32(data))
        struct.pack_into("<L", made, place + crc + 8, len(data))
    return bytes(made)


@pytest.mark.parametrize(
    ("pack", "suffix"),
    [(gzip.compress, ".gz"), (zstandard.ZstdCompressor().compress, ".zst")],
)
def test_a_compressed_file_is_the_file_that_it_holds(
    pack: Callable[[bytes], bytes], suffix: str
) -> None:
    found = brought(pack(WORDS), f"talk.jsonl{suffix}")
    assert contents(found) == {"talk.jsonl": WORDS}
    assert not found.is_folder


def test_compressed_streams_behind_one_another_are_one_file() -> None:
    packed = gzip.compress(WORDS) + gzip.compress(b"More.")
    assert contents(brought(packed)) == {"file": WORDS + b"More."}
    frames = zstandard.ZstdCompressor()
    packed = frames.compress(WORDS) + frames.compress(b"More.")
    assert contents(brought(packed)) == {"file": WORDS + b"More."}


def test_a_compressed_file_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    packed = gzip.compress(bytes(range(256)) * 4000, compresslevel=0)
    found = brought(packed[:900_000], "talk.gz")
    (kept,) = found.members
    assert 0 < kept.size < 1_024_000
    assert codes(found) == {"talk.gz": "damaged"}


@pytest.mark.parametrize("missing", [1, 5, 40])
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_short_compressed_file_that_breaks_off_is_no_empty_one(
    pack: Callable[[bytes], bytes], missing: int
) -> None:
    lines = b"".join(b"%d\n" % (number**7) for number in range(6_000))
    (kept,) = brought(pack(lines)).members
    assert kept.size == len(lines)
    found = brought(pack(lines)[:-missing], "talk")
    (kept,) = found.members
    assert kept.size > len(lines) // 3
    assert codes(found) == {"talk": "damaged"}


def test_frames_of_zstandard_are_known_to_be_whole_whatever_they_hold() -> None:
    skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc"
    checked = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False)
    packed = checked.compress(b"a" * 1_000_000) + skipped + checked.compress(b"")
    assert codes(brought(packed)) == {}
    for end in (len(packed) - 1, len(packed) - 6, len(packed) - 12):
        assert codes(brought(packed[:end])) == {"file": "damaged"}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_archive_is_the_folder_that_it_holds(method: int) -> None:
    data = zipped(("a/one.txt", WORDS), ("two.txt", b"2"), method=method)
    found = brought(data)
    assert found.is_folder
    assert contents(found) == {"a/one.txt": WORDS, "two.txt": b"2"}


def test_members_packed_by_zstandard_are_read() -> None:
    data = zipped_by_zstandard("talk.json", WORDS)
    assert contents(brought(data)) == {"talk.json": WORDS}


def test_an_archive_in_an_archive_is_unpacked_and_one_inside_that_is_named() -> None:
    inmost = zipped(("deep.txt", b"deep"))
    inner = zipped(("in.txt", b"in"), ("inmost.zip", inmost))
    found = brought(zipped(("inner.zip", inner), ("packed.gz", gzip.compress(b"x"))))
    assert contents(found) == {"inner.zip/in.txt": b"in", "packed": b"x"}
    assert codes(found) == {"inner.zip/inmost.zip": "nested"}


def test_what_can_not_be_taken_out_is_named_and_stops_nothing() -> None:
    data = bytearray(zipped(("locked", b"a"), ("good", WORDS), ("odd", b"c")))
    central = data.index(b"PK\x01\x02")
    struct.pack_into("<H", data, central + 8, 1)
    last = data.rindex(b"PK\x01\x02")
    struct.pack_into("<H", data, last + 10, 97)
    found = brought(bytes(data))
    assert contents(found) == {"good": WORDS}
    assert codes(found) == {"locked": "encrypted", "odd": "compression"}


def test_links_are_not_followed() -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        link = zipfile.ZipInfo("passwords")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("folder/", "")
        archive.writestr("__MACOSX/._x", "junk")
    found = brought(held.getvalue())
    assert not found.members
    assert codes(found) == {"passwords": "link"}


def test_a_member_whose_bytes_are_damaged_is_named() -> None:
    data = bytearray(zipped(("bad", WORDS), ("good", b"ok"), method=0))
    data[40] ^= 0xFF
    found = brought(bytes(data))
    assert contents(found) == {"good": b"ok"}
    assert codes(found) == {"bad": "damaged"}


@pytest.mark.parametrize("end", [30, 60, -1])
def test_an_archive_that_breaks_off_is_refused_with_a_sentence(end: int) -> None:
    with pytest.raises(Invalid) as refusal:
        brought(zipped(("a", WORDS))[:end])
    assert refusal.value.code == "archive_damaged"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_bomb_is_stopped_at_its_ratio(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "FREE_BYTES", 1 << 20)
    with pytest.raises(Invalid) as refusal:
        brought(pack(bytes(8 << 20)))
    assert refusal.value.code == "archive_bomb"
    assert "250 times" in refusal.value.message


def test_a_bomb_of_overlapping_members_is_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archives, "FREE_BYTES", 1 << 20)
    data = bytearray(zipped(("a", bytes(1 << 18))))
    place = data.index(b"PK\x01\x02")
    entry, end = bytes(data[place:-22]), bytearray(data[-22:])
    entries = b"".join(
        entry[:46] + struct.pack("<B", 65 + count % 26) for count in range(2000)
    )
    struct.pack_into("<HHL", end, 8, 2000, 2000, len(entries))
    with pytest.raises(Invalid) as refusal:
        brought(bytes(data[:place]) + entries + bytes(end))
    assert refusal.value.code == "archive_bomb"


def test_more_bytes_or_files_than_the_bounds_are_refused() -> None:
    data = zipped(("a", WORDS), ("b", WORDS))
    with pytest.raises(ArchiveTooLarge):
        brought(data, most=2000)
    bounds = archives.Bounds(len(data), members=1)
    with pytest.raises(ArchiveTooLarge):
        archives.unpack_zip(io.BytesIO(data), bounds)


def test_a_list_of_members_that_is_a_trap_itself_is_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archives, "MAX_DIRECTORY_BYTES", 40)
    with pytest.raises(Invalid) as refusal:
        brought(zipped(("a", b"")))
    assert refusal.value.code == "archive_bomb"


@pytest.mark.parametrize("is_large", [False, True])
def test_a_list_of_members_is_measured_where_it_is_read(
    monkeypatch: pytest.MonkeyPatch, *, is_large: bool
) -> None:
    """Nobody who looks for the archive's end finds the end that is read."""
    monkeypatch.setattr(archives, "MAX_DIRECTORY_BYTES", 400)
    data = bytearray(zipped(*((f"{n:04}", b"") for n in range(100))))
    begin, end = data.index(b"PK\1\2"), data.rindex(b"PK\5\6")
    if is_large:
        whole = struct.pack("<HHLLQQQQ", 45, 45, 0, 0, 100, 100, end - begin, begin)
        record = b"PK\6\6" + struct.pack("<Q", 44) + whole
        locator = b"PK\6\7" + struct.pack("<LQL", 0, end, 1)
        small = b"PK\5\6" + struct.pack(
            "<HHHHLLH", 0, 0, *[0xFFFF] * 2, *[2**32 - 1] * 2, 0
        )
        data[end:] = record + locator + small
    else:
        data[end + 16 : end + 20] = (
            b"PK\5\6"  # where the list begins, which nobody asks
        )
    with pytest.raises(Invalid) as refusal:
        brought(bytes(data))
    assert refusal.value.code == "archive_bomb"


def test_many_members_of_one_name_take_no_longer_than_others() -> None:
    names = FileNames()
    taken = {names.take("a") for _ in range(50_000)}

    assert len(taken) == 50_000
    assert {"a", "a (2)", "a (50000)"} <= taken
    assert names.take("a (2)") == "a (2) (2)"


def test_in_a_folder_a_bad_archive_is_named_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archives, "FREE_BYTES", 1 << 20)
    files = {
        "bomb.gz": gzip.compress(bytes(8 << 20)),
        "cut.zip": zipped(("a", WORDS))[:50],
        "talks.zip": zipped(("one.txt", b"1")),
        "two.txt": b"2",
    }
    kept = [
        (name, lambda data=data: blobs.store_stream(io.BytesIO(data)))
        for name, data in files.items()
    ]
    found = unpack(keep_folder(kept, name="all"))
    assert contents(found) == {"talks.zip/one.txt": b"1", "two.txt": b"2"}
    assert codes(found) == {"bomb.gz": "archive_bomb", "cut.zip": "archive_damaged"}


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("C:\\talks\\one.txt", "talks/one.txt"),
        ("a/./b/../c", "a/b/c"),
        ("a\0b\u202etxt.exe", "a\ufffdb\ufffdtxt.exe"),
        ("..", "file"),
        ("x" * 5000, "x" * 1000),
    ],
)
def test_a_path_is_a_label_and_nothing_more(given: str, label: str) -> None:
    assert clean_name(given) == label


def test_two_members_of_one_name_are_told_apart() -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        data = zipped(("a", b"1"), ("a", b"2"))
    assert contents(brought(data)) == {"a": b"1", "a (2)": b"2"}


def test_a_compressed_file_beside_one_of_its_name_is_told_apart() -> None:
    files = {
        "talk.jsonl.gz": gzip.compress(b"1"),
        "talk.jsonl.zst": zstandard.ZstdCompressor().compress(b"2"),
        "talk.jsonl": b"3",
        "old.jsonl.gz": gzip.compress(b"4"),
        "old.jsonl.zst": zstandard.ZstdCompressor().compress(b"5"),
    }
    told_apart = {
        "talk.jsonl.gz": b"1",
        "talk.jsonl.zst": b"2",
        "talk.jsonl": b"3",
        "old.jsonl": b"4",
        "old.jsonl.zst": b"5",
    }
    assert contents(brought(zipped(*files.items()))) == told_apart
    kept = [
        (name, lambda data=data: blobs.store_stream(io.BytesIO(data)))
        for name, data in files.items()
    ]
    assert contents(unpack(keep_folder(kept, name="all"))) == told_apart


def test_a_file_in_an_archive_is_told_from_one_in_a_folder_of_its_name() -> None:
    files = {"talks/one": b"1", "talks.gz": gzip.compress(zipped(("one", b"2")))}
    kept = [
        (name, lambda data=data: blobs.store_stream(io.BytesIO(data)))
        for name, data in files.items()
    ]
    found = contents(unpack(keep_folder(kept, name="all")))
    assert found == {"talks/one": b"1", "talks/one (2)": b"2"}
