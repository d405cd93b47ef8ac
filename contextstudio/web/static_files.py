"""Static files, in front of Django."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from io import BufferedIOBase
from wsgiref.headers import Headers

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from servestatic import ServeStaticASGI
from servestatic.responders import Redirect, Response, StaticFile
from servestatic.utils import decode_path_info

from .guard import Application, Receive, Scope, Send

_PIECE = 256 * 1024
_reading = ThreadPoolExecutor(2, "static-files")


def with_static_files(application: Application) -> Application:
    """The application behind the static files.

    In production they are what `collectstatic` gathered, with hashed names that never change.
    Otherwise they come straight from where the finders see them, and a browser asks each time
    whether they have changed, so that a start needs no collecting. Icons it shows without waiting
    for the answer: those of a notice that the server is gone would not come.
    """
    served = _StaticFiles(
        application,
        autorefresh=settings.DEBUG,
        max_age=None if settings.PRODUCTION else 0,
        allow_all_origins=False,
        add_headers_function=_harden,
    )
    roots = [(settings.STATIC_ROOT, settings.STATIC_URL)]
    if not settings.PRODUCTION:
        roots = [
            (
                storage.location,
                settings.STATIC_URL + (getattr(storage, "prefix", None) or ""),
            )
            for finder in get_finders()
            for storage in getattr(finder, "storages", {}).values()
        ]
    # Later ones win, where the first finder does in Django.
    for root, prefix in reversed(roots):
        served.add_files(root, prefix=prefix)
    return served


def _harden(headers: Headers, path: str, url: str) -> None:
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Content-Security-Policy"] = "default-src 'none'; style-src 'self'; sandbox"
    if url.endswith("/icons.svg") and not settings.PRODUCTION:
        headers["Cache-Control"] = "max-age=0, public, stale-while-revalidate=604800"


class _StaticFiles(ServeStaticASGI):
    """Reads in threads that last.

    ServeStatic starts one for each file that it sends. A page asks for sixty, and to start those
    took longer than all else that the page takes the server.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file that the path names, or pass the connection on."""
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
            return self.files.get(path)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(_reading, self.find_file, path)


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
