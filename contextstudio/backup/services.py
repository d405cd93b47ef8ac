"""Backing up and restoring, in an order that is safe while others write."""

import hashlib
import hmac
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.database.versions import is_newer
from threads.store import blobs

from . import archive, snapshots
from .archive import Manifest, MemberWriter
from .snapshots import DatabaseSnapshot

_TRIES = 3
"""Tries to get a snapshot that names no file that was erased before it was copied."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A finished backup."""

    size: int
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Restored:
    """An installation created from a backup."""

    manifest: Manifest
    same_key: bool
    """Whether what the old installation signed (keys, links, browser sessions) is valid here."""


def back_up(path: Path) -> Backup:
    """Write everything into one new file. Raises Conflict if it exists or the database is empty.

    Files are written before the rows that name them and erased after these. So files are copied
    before the database and, if new ones came meanwhile, again after it. A file that a snapshot
    names but that is gone was erased in between: the next snapshot won't name it.
    """
    if path.exists():
        raise Conflict(f"{path} already exists.", code="file_exists")
    snapshots.refuse_if_empty()
    try:
        manifest = _write(path)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise Invalid(f"{path} can't be written: {error.strerror}{where}.") from error
    return Backup(path.stat().st_size, manifest)


def _write(path: Path) -> Manifest:
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        archive.writing(path) as writer,
        tempfile.TemporaryDirectory(dir=path.parent) as folder,
    ):
        snapshot, missing = _snapshot(writer, Path(folder))
        for file in snapshot.files:
            writer.add(f"{archive.DATABASE}{file.name}", file)
        key = Path(settings.DATA_DIR) / "secret_key"
        if key.exists() and key.read_text() == settings.SECRET_KEY:
            writer.add(archive.SECRET_KEY, key)
        manifest = Manifest(
            vendor=_vendor(),
            created_at=timezone.now().isoformat(timespec="seconds"),
            migrations=snapshot.migrations,
            rows=snapshot.rows,
            key_fingerprint=_fingerprint(settings.SECRET_KEY),
            missing=missing,
            members=writer.members,
        )
        writer.finish(manifest)
    return manifest


def restore(path: Path) -> Restored:
    """Create an installation from a backup where there is none.

    The file is read completely first: a damaged one changes nothing. Raises BrokenBackup, and
    Conflict if there is a database already, if this one is of the other kind, or if the backup is
    from a newer version.
    """
    manifest = archive.verify(path)
    if is_newer(
        (app, name) for app, names in manifest.migrations.items() for name in names
    ):
        raise Conflict(
            f"{path} was made by a newer version of ContextStudio.",
            code="newer_version",
        )
    if manifest.vendor != _vendor():
        raise Conflict(
            f"{path} is of {manifest.vendor}, but the database here is {_vendor()}.",
            code="other_database",
        )
    data = Path(settings.DATA_DIR)
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    snapshots.refuse_unless_empty()
    key = ""
    with (
        tempfile.TemporaryDirectory(dir=data) as folder,
        archive.read_members(path) as members,
    ):
        for name, stream in members:
            if name == archive.SECRET_KEY:
                key = stream.read().decode()
            elif name.startswith(archive.BLOBS):
                blobs.store_pieces(iter(lambda: stream.read(1 << 20), b""))  # noqa: B023
            elif name.startswith(archive.DATABASE):
                with (Path(folder) / Path(name).name).open("wb") as file:
                    shutil.copyfileobj(stream, file)
        snapshots.restore_snapshot(Path(folder), manifest.migrations)
    own = data / "secret_key"
    if key and own.exists() and own.read_text() == settings.SECRET_KEY:
        # The existing key was generated when this command started.
        own.chmod(0o600)
        own.write_text(key)
    else:
        key = settings.SECRET_KEY
    return Restored(manifest, _fingerprint(key) == manifest.key_fingerprint)


def _snapshot(writer: MemberWriter, folder: Path) -> tuple[DatabaseSnapshot, list[str]]:
    """Snapshot the database with copies of all files it names, and list files that are gone."""
    for _ in range(_TRIES):
        _copy_blobs(writer)
        snapshot = snapshots.take_snapshot(folder)
        _copy_blobs(writer)
        copied = {name.removeprefix(archive.BLOBS) for name in writer.members}
        missing = sorted(snapshot.named - copied)
        if not missing:
            break
    return snapshot, missing


def _copy_blobs(writer: MemberWriter) -> None:
    """Copy the files that aren't in the archive yet."""
    for path in sorted(Path(settings.BLOB_DIR).glob("??/*")):
        name = f"{archive.BLOBS}{path.name}"
        if name not in writer.members:
            try:
                writer.add(name, path)
            except FileNotFoundError:
                continue  # erased meanwhile


def _vendor() -> str:
    return "sqlite" if settings.ON_SQLITE else "postgresql"


def _fingerprint(key: str) -> str:
    """A fingerprint that identifies a key without revealing it."""
    return hmac.new(key.encode(), b"contextstudio.backup", hashlib.sha256).hexdigest()
