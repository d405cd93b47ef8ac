"""The format of a backup: a zstandard-compressed tar archive that ends with a manifest.

`manifest.json` has the SHA-256 and the size in bytes of every other member. It comes last because
hashes are known only once a member is written; an archive without it is incomplete. Before it come
`secret_key`, `blobs/<sha256>` and `database/…`.
"""

import hashlib
import io
import json
import os
import re
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from contextstudio.accounts.domain.errors import Invalid

MANIFEST = "manifest.json"
SECRET_KEY = "secret_key"  # noqa: S105  # the name of a member
BLOBS = "blobs/"
DATABASE = "database/"

_FORMAT = 1
_MEMBER = re.compile(
    r"manifest\.json|secret_key|blobs/[0-9a-f]{64}|database/[A-Za-z0-9_.-]+"
)
_CHUNK = 1 << 20


class BrokenBackup(Invalid):
    """A file that is not a complete backup; nothing in it is used."""

    default_code = "broken_backup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Describes a backup and its members."""

    vendor: str
    """`sqlite` or `postgresql`: a backup can only be restored to the same kind of database."""
    created_at: str
    migrations: dict[str, list[str]]
    """By app, the names of the applied migrations."""
    rows: dict[str, int]
    """Number of rows by table."""
    key_fingerprint: str
    """Identifies the secret key with which keys and links were signed, without revealing it."""
    missing: list[str] = field(default_factory=list)
    """Files that the database names but that were already gone."""
    members: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By name, the SHA-256 in hex and the size in bytes."""
    format: int = _FORMAT

    @property
    def blobs(self) -> int:
        """The number of files of messages and imports in it."""
        return sum(name.startswith(BLOBS) for name in self.members)


_FIELDS = {one.name for one in fields(Manifest)}


class MemberWriter:
    """Adds members to an archive and records their hashes."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.members: dict[str, tuple[str, int]] = {}

    def add(self, name: str, path: Path) -> None:
        """Add a file. Raises FileNotFoundError if it is gone."""
        with path.open("rb") as file:
            self._add(name, file, path.stat().st_size)

    def finish(self, manifest: Manifest) -> None:
        """Add the manifest, which ends the archive."""
        data = json.dumps(asdict(manifest), indent=1).encode()
        self._tar.addfile(_entry(MANIFEST, len(data)), io.BytesIO(data))

    def _add(self, name: str, file: IO[bytes], size: int) -> None:
        reader = _Hashing(file)
        self._tar.addfile(_entry(name, size), cast(IO[bytes], reader))
        self.members[name] = reader.digest.hexdigest(), size


@contextmanager
def writing(path: Path) -> Iterator[MemberWriter]:
    """Write an archive to a temporary file, readable by its owner only, then move it into place."""
    with tempfile.TemporaryDirectory(
        dir=path.parent, prefix=f".{path.name}."
    ) as folder:
        draft = Path(folder) / "draft"
        compressor = zstandard.ZstdCompressor(level=3, threads=-1, write_checksum=True)
        with (
            os.fdopen(os.open(draft, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file,
            compressor.stream_writer(file) as packed,
            tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
        ):
            yield MemberWriter(tar)
        with draft.open("rb") as whole:
            os.fsync(whole.fileno())
        draft.replace(path)


@contextmanager
def read_members(path: Path) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    """The members of an archive in order. Raises BrokenBackup if it isn't a backup's."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise Invalid(f"{path} can't be read: {error.strerror}.") from error
    try:
        with (
            file,
            zstandard.ZstdDecompressor().stream_reader(file) as unpacked,
            tarfile.open(fileobj=unpacked, mode="r|") as tar,
        ):
            yield _members(tar, path)
    except (tarfile.TarError, zstandard.ZstdError, EOFError) as error:
        raise BrokenBackup(f"{path} is damaged, or not a backup: {error}.") from error


def _members(tar: tarfile.TarFile, path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    for entry in tar:
        stream = tar.extractfile(entry) if entry.isreg() else None
        if stream is None or not _MEMBER.fullmatch(entry.name):
            raise BrokenBackup(
                f"{path} holds {entry.name!r}, which this version doesn't know: it is damaged, "
                "not a backup, or made by a newer version of ContextStudio."
            )
        yield entry.name, stream


def verify(path: Path) -> Manifest:
    """Check all members of an archive and return its manifest. Raises BrokenBackup."""
    found: dict[str, tuple[str, int]] = {}
    data = b""
    with read_members(path) as members:
        for name, stream in members:
            if name == MANIFEST:
                data = stream.read()
                continue
            reader, size = _Hashing(stream), 0
            while piece := reader.read(_CHUNK):
                size += len(piece)
            found[name] = reader.digest.hexdigest(), size
    if not data:
        raise BrokenBackup(f"{path} has no manifest: it is incomplete.")
    said: dict[str, Any] = json.loads(data)
    if said.get("format") != _FORMAT or said.keys() - _FIELDS:
        raise BrokenBackup(f"{path} was made by a newer version of ContextStudio.")
    expected = {name: (one[0], one[1]) for name, one in said["members"].items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            what = "is missing" if name not in found else "is not what was backed up"
            raise BrokenBackup(f"{path} is damaged: {name} {what}.")
    return Manifest(**{**said, "members": expected})


class _Hashing:
    """A stream that hashes its bytes as they are read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.digest.update(data)
        return data


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    return entry
