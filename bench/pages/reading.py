"""What reading 50 messages costs (D3 of the measured peers): `python -m bench.pages.reading`.

The API's `GET /api/sessions/{id}/messages` against a view that passes the rows of a raw cursor to
orjson, on the same server and behind the same middleware, key check and gate. Both are requested in
turn, so that a slow moment of the machine affects both; the figure is the ratio of the medians. On
PostgreSQL if DATABASE_URL names one, as in `make bench`, else on SQLite.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from bench import processes
from bench.context.replay import Row
from bench.transcript import messages

MESSAGES, WINDOW, START = 10_000, 50, 5_000
ROUNDS, A_ROUND = 12, 40
CLIENTS, A_CLIENT = 32, 12


def rows() -> Iterator[Row]:
    """The ratio alone and with 32 clients, and how many responses weren't 200."""
    with (
        tempfile.TemporaryDirectory() as folder,
        processes.running_server(
            Path(folder), "bench.pages.reading_server", PORT="0"
        ) as described,
    ):
        served = _Served(described)
        alone = asyncio.run(_alternate(served, clients=1, each=A_ROUND))
        crowd = asyncio.run(_alternate(served, clients=CLIENTS, each=A_CLIENT))
    yield _row("50 messages, one client", *alone[:2])
    yield _row(f"50 messages, {CLIENTS} clients", *crowd[:2])
    errors = alone[2] + crowd[2]
    yield Row(f"errors at {CLIENTS} clients", str(errors), "0", errors == 0)


def _row(name: str, ours: float, raw: float) -> Row:
    ratio = ours / raw
    figure = f"{ratio:.2f} x ({1000 * ours:.1f} ms)"
    return Row(f"{name} / raw cursor and orjson", figure, "1.5 x", ratio <= 1.5)


class _Served:
    """A server with one session, and the two addresses that are compared."""

    def __init__(self, described: str) -> None:
        base, session_id, self.key = described.split()
        self.host, self.port = urlsplit(base).hostname or "", urlsplit(base).port or 0
        query = f"?start={START}&end={START + WINDOW}"
        self.ours = f"/api/sessions/{session_id}/messages{query}"
        self.raw = f"/bench/{session_id}/messages{query}"


async def _alternate(
    served: _Served, *, clients: int, each: int
) -> tuple[float, float, int]:
    """Median seconds of our view and of the raw one, and the number of errors."""
    seconds: dict[str, list[float]] = {served.ours: [], served.raw: []}
    errors = 0
    for _ in range(ROUNDS + 1):
        for path in seconds:
            found = await asyncio.gather(
                *(_ask(served, path, each) for _ in range(clients))
            )
            seconds[path].append(median(s for times, _ in found for s in times))
            errors += sum(failed for _, failed in found)
    ours, raw = (median(taken[1:]) for taken in seconds.values())
    return ours, raw, errors


async def _ask(served: _Served, path: str, count: int) -> tuple[list[float], int]:
    """Seconds of each of `count` requests over one connection, and how many failed."""
    request = (
        f"GET {path} HTTP/1.1\r\nHost: {served.host}:{served.port}\r\n"
        f"Authorization: Bearer {served.key}\r\n\r\n"
    ).encode()
    reader, writer = await asyncio.open_connection(served.host, served.port)
    taken, failed = [], 0
    for _ in range(count):
        begun = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().split(b"content-length:")[1].split(b"\r\n")[0]
        await reader.readexactly(int(length))
        taken.append(time.perf_counter() - begun)
        failed += not head.startswith(b"HTTP/1.1 200")
    writer.close()
    return taken, failed


def seed(count: int = MESSAGES) -> list[dict[str, object]]:
    """The messages of the session that is read."""
    return list(messages(count))


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:60} {row.value:>20} {row.bar:>8} {row.ok}")
