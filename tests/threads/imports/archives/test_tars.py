"""Unpacking tar archives, plain and packed, and refusing what is no more than a trap."""

import gzip
import io
import os
import tarfile
from collections.abc import Callable

import pytest
import zstandard

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.packing import brought, codes, contents, zipped

WORDS = b"Why does the tide table jump?\n" * 50


def tarred(*members: tuple[str, bytes], **more: bytes) -> bytes:
    """A tar archive; of `more` each name is an entry of the type that is its value."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, type_ in more.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = type_, "elsewhere"
            archive.addfile(info)
    return held.getvalue()


@pytest.mark.parametrize(
    ("pack", "name"),
    [
        (bytes, "talks.tar"),
        (gzip.compress, "talks.tar.gz"),
        (gzip.compress, "talks.tgz"),
        (zstandard.ZstdCompressor().compress, "talks.tar.zst"),
    ],
)
def test_a_tar_archive_is_the_folder_that_it_holds(
    pack: Callable[[bytes], bytes], name: str
) -> None:
    data = tarred(("a/one.txt", WORDS), ("two.txt", b"2"), ("empty", b""))
    found = brought(pack(data), name)

    assert found.is_folder
    assert contents(found) == {"a/one.txt": WORDS, "two.txt": b"2", "empty": b""}


def test_names_in_a_tar_archive_are_labels() -> None:
    data = tarred(("../../up", b"1"), ("/root", b"2"), ("a/._x", b"3"), ("up", b"4"))

    assert contents(brought(data)) == {"up": b"1", "root": b"2", "up (2)": b"4"}


def test_links_and_devices_are_named_and_left() -> None:
    data = tarred(
        ("good", WORDS),
        folder=tarfile.DIRTYPE,
        soft=tarfile.SYMTYPE,
        hard=tarfile.LNKTYPE,
        pipe=tarfile.FIFOTYPE,
    )
    found = brought(data)

    assert contents(found) == {"good": WORDS}
    assert codes(found) == {"soft": "link", "hard": "link", "pipe": "link"}


def test_archives_in_a_packed_tar_archive_are_unpacked_one_level_down() -> None:
    inmost = tarred(("deep.txt", b"deep"))
    inner = zipped(("in.txt", b"in"), ("inmost.tar", inmost))
    found = brought(gzip.compress(tarred(("inner.zip", inner))), "outer.tar.gz")

    assert contents(found) == {"inner.zip/in.txt": b"in"}
    assert codes(found) == {"inner.zip/inmost.tar": "nested"}


def test_a_tar_archive_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    data = tarred(("one.txt", WORDS), ("two.txt", WORDS))
    found = brought(data[:2_900], "talks.tar")

    assert contents(found) == {"one.txt": WORDS}
    assert codes(found) == {"talks.tar": "damaged"}


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_packed_tar_archive_that_breaks_off_is_one_place(
    pack: Callable[[bytes], bytes],
) -> None:
    data = pack(tarred(("one.txt", WORDS), ("two.txt", os.urandom(400_000))))
    found = brought(data[:-900], "talks.tar.gz")

    assert contents(found) == {"one.txt": WORDS}
    assert codes(found) == {"talks.tar.gz": "damaged"}


def test_an_archive_that_breaks_off_in_another_has_the_name_that_it_has_there() -> None:
    data = tarred(("one.txt", WORDS), ("two.txt", WORDS))[:2_900]
    found = brought(zipped(("talks.tar", data)), "outer.zip")

    assert contents(found) == {"talks.tar/one.txt": WORDS}
    assert codes(found) == {"talks.tar": "damaged"}


def test_what_only_begins_like_a_tar_archive_is_refused() -> None:
    with pytest.raises(Invalid) as refusal:
        brought(b"x" * 257 + b"ustar" + b"x" * 700)

    assert refusal.value.code == "archive_damaged"


def test_a_header_that_is_longer_than_any_honest_one_is_not_read() -> None:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("one")
        info.pax_headers = {"comment": "x" * (2 << 20)}
        archive.addfile(info)

    with pytest.raises(Invalid) as refusal:
        brought(held.getvalue())
    assert refusal.value.code == "archive_damaged"


def header(kind: bytes, body: bytes, size: int | None = None) -> bytes:
    """A header as tar has it, with what it announces."""
    info = tarfile.TarInfo("a")
    info.type, info.size = kind, len(body) if size is None else size
    return info.tobuf(tarfile.GNU_FORMAT) + body + bytes(-len(body) % 512)


@pytest.mark.parametrize(
    "announced",
    [
        header(tarfile.XHDTYPE, b"1" * 200_000),  # in which tarfile looks for a number
        header(tarfile.XHDTYPE, b"1 " * 50_000 + b"="),
        header(tarfile.XGLTYPE, b"200012 comment=" + b"1" * 199_996 + b"\n"),
        header(tarfile.XHDTYPE, b"0 path=x\n"),
        header(tarfile.XHDTYPE, b"7 path=x\n"),
        header(tarfile.XHDTYPE, b"17 size=-0001024\n"),
        header(tarfile.GNUTYPE_LONGNAME, b"abc\0") * 2_000,  # in which it calls itself
        header(tarfile.REGTYPE, b"", size=-512),  # after which comes the same again
        header(tarfile.DIRTYPE, b"", size=-512) + header(b"9", b"", size=-1024),
    ],
    ids=lambda data: f"{len(data)} bytes",
)
def test_headers_that_are_a_trap_for_who_reads_them_end_an_archive(
    announced: bytes,
) -> None:
    good = tarred(("one.txt", WORDS))[:2048]
    last = header(tarfile.REGTYPE, WORDS)
    found = brought(good + announced + last + bytes(1024), "talks.tar")

    assert contents(found) == {"one.txt": WORDS}
    assert codes(found) == {"talks.tar": "damaged"}


def test_names_beyond_ascii_and_of_any_length_are_read_from_extended_headers() -> None:
    names = ["ü" * 90, "2026" * 20 + ".txt", "a/" * 200 + "x"]
    for format_ in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        held = io.BytesIO()
        options = {"comment": "all"} if format_ == tarfile.PAX_FORMAT else None
        with tarfile.open(
            fileobj=held, mode="w", format=format_, pax_headers=options
        ) as archive:
            for name in names:
                archive.addfile(tarfile.TarInfo(name))

        assert [*contents(brought(held.getvalue()))] == sorted(names, key=names.index)


def test_a_packed_tar_archive_that_comes_to_too_much_is_refused() -> None:
    data = gzip.compress(tarred(("zeros", bytes(70 << 20))))

    with pytest.raises(Invalid) as refusal:
        brought(data, "bomb.tgz")
    assert refusal.value.code == "archive_bomb"
