"""Serves static files in front of Django, under addresses that contain their version.

A page loads sixty files. Under `/static/<version>/`, where the version is a hash of all contents,
none of them ever changes: a browser caches them, and requests none when it goes to another page.
Modules and style sheets refer to each other by relative addresses, so that a page never mixes
modules of two versions.
"""

import asyncio
import hashlib
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from io import BufferedIOBase
from pathlib import Path
from wsgiref.headers import Headers

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.exceptions import ImproperlyConfigured
from servestatic import ServeStaticASGI
from servestatic.responders import Redirect, Response, StaticFile
from servestatic.storage import CompressedStaticFilesStorage
from servestatic.utils import decode_path_info

from .guard import Application, Receive, Scope, Send

_PIECE = 256 * 1024
_COMPRESSED = {".br", ".gz", ".zst"}
_VERSIONED = re.compile(r"^[0-9a-f]{12}/")
_reading = ThreadPoolExecutor(2, "static-files")


class VersionedStorage(CompressedStaticFilesStorage):
    """Provides the addresses of static files; in production also compresses what it collects."""

    def url(self, name: str | None) -> str:
        """The address of a file; during development, one that is requested again each time."""
        address: str = super().url(name if settings.DEBUG else f"{version()}/{name}")
        return address


@cache
def version() -> str:
    """The first 12 hexadecimal digits of a hash of all static files, by name and content.

    It is the same in every process that serves the same files. Raises ImproperlyConfigured if there
    are none: in production, `collectstatic` collects them.
    """
    files = {
        f"{prefix}{path.relative_to(root).as_posix()}": path
        for root, prefix in reversed(_roots())
        for path in root.rglob("*")
        if path.suffix not in _COMPRESSED and path.is_file()
    }
    if not files:
        raise ImproperlyConfigured(
            f"No static files in {settings.STATIC_ROOT}: run manage.py collectstatic."
        )
    found = hashlib.sha256()
    for name in sorted(files):
        content = files[name].read_bytes()
        found.update(f"{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()[:12]


def with_static_files(application: Application) -> Application:
    """Put static files in front of an application.

    In production they are what `collectstatic` collected. Otherwise they come straight from where
    the finders find them, so that a start needs no collecting. Under an address without a version,
    or with another one, a browser asks each time whether a file has changed.
    """
    versioned = None if settings.DEBUG else f"{settings.STATIC_URL}{version()}/"
    served = _StaticFiles(
        application,
        autorefresh=settings.DEBUG,
        max_age=0,
        allow_all_origins=False,
        add_headers_function=_harden,
        immutable_file_test=lambda _, url: bool(
            versioned and url.startswith(versioned)
        ),
    )
    # Later ones win here, whereas in Django the first finder does.
    for root, prefix in reversed(_roots()):
        for base in filter(None, (settings.STATIC_URL, versioned)):
            served.add_files(root, prefix=base + prefix)
    return served


def _roots() -> list[tuple[Path, str]]:
    """The folders of static files, highest precedence first, with the prefixes of their names."""
    if settings.PRODUCTION:
        return [(Path(settings.STATIC_ROOT), "")]
    return [*_found_by_finders()]


def _found_by_finders() -> Iterator[tuple[Path, str]]:
    for finder in get_finders():
        for storage in getattr(finder, "storages", {}).values():
            prefix = getattr(storage, "prefix", None)
            yield Path(storage.location), f"{prefix}/" if prefix else ""


def _harden(headers: Headers, path: str, url: str) -> None:
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Content-Security-Policy"] = "default-src 'none'; style-src 'self'; sandbox"


class _StaticFiles(ServeStaticASGI):
    """Reads files in long-lived threads.

    ServeStatic starts a thread for each file that it sends. A page loads sixty, and starting those
    threads took the server longer than everything else about the page.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file at the path, or pass the connection on."""
        found = await self._found(scope) if scope["type"] == "http" else None
        if found is None:
            await self.application(scope, receive, send)
            return
        loop = asyncio.get_running_loop()
        response, piece = await loop.run_in_executor(_reading, _begun, found, scope)
        headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in response.headers
            if value is not None
        ]
        try:
            await send(
                {
                    "type": "http.response.start",
                    "status": int(response.status),
                    "headers": headers,
                }
            )
            while len(piece) == _PIECE:
                await send(
                    {"type": "http.response.body", "body": piece, "more_body": True}
                )
                piece = await loop.run_in_executor(_reading, _next, response.file)
            await send({"type": "http.response.body", "body": piece})
        finally:
            if response.file is not None:
                response.file.close()

    async def _found(self, scope: Scope) -> StaticFile | Redirect | None:
        path = decode_path_info(scope["path"])
        if not self.autorefresh:
            return self.files.get(path) or self.files.get(_without_version(path))
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(_reading, self.find_file, path)


def _without_version(path: str) -> str:
    """The current path of a file requested by a page of another version."""
    name = path.removeprefix(settings.STATIC_URL)
    return path if name == path else settings.STATIC_URL + _VERSIONED.sub("", name, 1)


def _begun(found: StaticFile | Redirect, scope: Scope) -> tuple[Response, bytes]:
    headers = {
        f"HTTP_{name.decode('latin-1').upper().replace('-', '_')}": value.decode(
            "latin-1"
        )
        for name, value in scope["headers"]
    }
    headers["QUERY_STRING"] = scope["query_string"].decode("latin-1")
    response = found.get_response(scope["method"], headers)
    return response, _next(response.file)


def _next(file: BufferedIOBase | None) -> bytes:
    return b"" if file is None else file.read(_PIECE)
