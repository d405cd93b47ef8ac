"""A provider on this machine: a real HTTP server that answers in each provider's form.

A question about the weather is answered with a tool call, the tool's result with its content, and
anything else with its own words. Received requests are kept, byte for byte.
"""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .forms import Said, answer_of

REPLY = "It is 21 degrees in Paris."


@dataclass
class Asked:
    """A request as it was received."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key.lower() == name]
        assert len(found) < 2, found
        return found[0] if found else None


@dataclass
class Provider:
    """The server, and how it behaves."""

    asked: list[Asked] = field(default_factory=list)
    port: int = 0
    status: int = 200
    location: str = ""
    raw: tuple[list[tuple[str, str]], bytes] | None = None
    """Headers and a body for every answer, whatever is asked."""
    script: list[Said] = field(default_factory=list)
    """Its answers to the next requests; after these, answers depend on the request."""
    cut: int | None = None
    """After this many bytes of an answer's body the connection is closed."""
    silent_after: int | None = None
    """After this many bytes nothing more is sent."""
    pause: float = 0
    """Seconds between two pieces of a stream."""
    open: int = 0
    """Connections that are open."""
    loop: asyncio.AbstractEventLoop | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def last(self) -> Asked:
        return self.asked[-1]

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.open += 1
        try:
            while (asked := await _read(reader)) is not None:
                self.asked.append(asked)
                if not await self._answer(asked, writer):
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self.open -= 1
            writer.close()

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> bool:
        """Answer a request; returns whether the connection stays open."""
        if self.location:
            head = f"HTTP/1.1 307 Elsewhere\r\nLocation: {self.location}\r\n"
            writer.write(f"{head}Content-Length: 0\r\n\r\n".encode())
            return True
        if self.raw is not None:
            headers, body = self.raw
            lines = [f"{name}: {value}" for name, value in headers]
            head = "\r\n".join([f"HTTP/1.1 {self.status} Said", *lines])
            writer.write(
                f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
            )
            await writer.drain()
            return True
        said = self.script.pop(0) if self.script else _said(asked)
        kind, pieces = answer_of(asked.path, asked.json, said)
        head = f"HTTP/1.1 {self.status} OK\r\nContent-Type: {kind}\r\nX-Provider: local\r\n"
        writer.write(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        sent = 0
        for piece in pieces:
            if self.cut is not None and sent + len(piece) > self.cut:
                part = piece[: self.cut - sent]
                if part:
                    writer.write(b"%x\r\n%s\r\n" % (len(part), part))
                await writer.drain()
                return False
            if self.silent_after is not None and sent >= self.silent_after:
                await asyncio.sleep(3600)
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            sent += len(piece)
            await writer.drain()
            await asyncio.sleep(self.pause)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = [
        (name, value.strip()) for name, _, value in (x.partition(":") for x in lines)
    ]
    length = {name.lower(): value for name, value in headers}.get("content-length", "0")
    return Asked(method, path, headers, await reader.readexactly(int(length)))


def _said(asked: Asked) -> Said:
    """The answer, chosen by the last message."""
    body = asked.json
    last = (body.get("messages") or body.get("input") or body.get("contents"))[-1]
    text = json.dumps(last)
    if "sunny" in text:
        return Said(text=REPLY)
    if "weather" in text:
        return Said(text="Let me look.", city="Paris")
    return Said(text=f"You said: {_words(last)}")


def _words(last: Any) -> str:
    content = (
        last if isinstance(last, str) else last.get("content") or last.get("parts")
    )
    if isinstance(content, list):
        content = content[-1].get("text", "")
    return str(content)


@contextmanager
def running_provider() -> Iterator[Provider]:
    """Run a provider in a separate thread."""
    provider, is_ready = Provider(), threading.Event()

    async def run() -> None:
        provider.loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        provider.stop = stop  # type: ignore[attr-defined]
        server = await asyncio.start_server(
            provider.serve, "127.0.0.1", 0, limit=1 << 24
        )
        provider.port = server.sockets[0].getsockname()[1]
        is_ready.set()
        await stop.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    is_ready.wait()
    yield provider
    assert provider.loop is not None
    provider.loop.call_soon_threadsafe(provider.stop.set)  # type: ignore[attr-defined]
    thread.join()
