"""What a turn of a loop costs (the forty turns of `apply`): `python -m bench.forwarding.loop`.

An agent's loop sends its whole conversation with every request, two more messages each time. The
turns go through HTTP to a server with key check, gate and durable write. Alternating with each,
orjson reads and writes the same body in this process, and a bare ASGI application without Django
receives it, inserts one row durably and echoes it. Figures are medians of a server's CPU time,
including all threads and the kernel's part, and in brackets of the wall-clock time: other work on
the machine changes the second, not the first. The last rows are for four processes over one
database that serve the turns of a session one after the other. `python -m bench.forwarding.loop
COUNT…` measures only these numbers of messages.
"""

import http.client
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from statistics import median
from typing import NamedTuple
from urllib.parse import urlsplit

import orjson

from bench import processes
from bench.context.replay import Row
from bench.transcript import messages

TURNS = 40
COUNTS = (50, 200, 2_000, 10_000)
OPERATIONS = (0, 120, 1_000)
WORKERS = 4
WARM = 2
"""Turns before those that count: the first one reads the session."""


def rows(counts: tuple[int, ...] = COUNTS) -> Iterator[Row]:
    """Rows for each size, number of operations and policy."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        key, workers = "", list[Peer]()
        for _ in range(WORKERS):
            given = [key] if key else []
            server = processes.running_server(
                folder, "bench.forwarding.loop_server", *given, PORT="0"
            )
            base, pid, key = stack.enter_context(server).split()
            workers.append(Peer(base, pid, key))
        base, pid = stack.enter_context(
            processes.running_server(folder, "bench.forwarding.loop_echo")
        ).split()
        loop = _Loop(workers, Peer(base, pid))
        for count, operations, tiers in product(counts, OPERATIONS, (False, True)):
            yield from loop.rows(count, operations, tiers=tiers)
        for count in counts:
            yield loop.row_of_workers(count)


class Timing(NamedTuple):
    """CPU and wall-clock seconds."""

    cpu: float
    wall: float


class Peer:
    """A server, accessed over one connection."""

    def __init__(self, base: str, pid: str, key: str = "") -> None:
        # Linux's clock of a process (clock_getcpuclockid), which includes finished threads.
        self._clock = ~int(pid) << 3 | 2
        address = urlsplit(base)
        self._line = http.client.HTTPConnection(address.hostname or "", address.port)
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def post(self, path: str, body: bytes, method: str = "POST") -> bytes:
        """Send a request. Raises RuntimeError if it is refused."""
        self._line.request(method, path, body, self._headers)
        response = self._line.getresponse()
        answer = response.read()
        if response.status not in (http.HTTPStatus.OK, http.HTTPStatus.CREATED):
            raise RuntimeError(answer[:500])
        return answer

    def timed(self, path: str, body: bytes) -> Timing:
        """Send a request and measure it."""
        cpu, begun = time.clock_gettime(self._clock), time.perf_counter()
        self.post(path, body)
        wall = time.perf_counter() - begun
        return Timing(time.clock_gettime(self._clock) - cpu, wall)


class _Loop:
    def __init__(self, workers: list[Peer], echo: Peer) -> None:
        self._workers, self._ours, self._echo = workers, workers[0], echo

    def rows(self, count: int, operations: int, *, tiers: bool) -> Iterator[Row]:
        given = list(messages(count + 2 * (TURNS + WARM + 1)))
        before = self._memory()
        path = self._session(count, operations, tiers=tiers)
        apply = f"{path}/apply"
        orjson_, echo, turn = list[Timing](), list[Timing](), list[Timing]()
        for number in range(1, TURNS + WARM + 1):
            body = orjson.dumps({"messages": given[: count + 2 * number]})
            orjson_.append(_read_and_written(body))
            echo.append(self._echo.timed("/", body))
            turn.append(self._ours.timed(apply, body))
        taken = self._memory() - before
        edit = {"type": "snip", "targets": [f"m{count // 2 + 1}"]}
        self._ours.post(f"{path}/operations", json.dumps(edit).encode())
        body = orjson.dumps({"messages": given})
        changed = self._ours.timed(apply, body)
        name = f"{count:,} × {operations:,}{', window and tiers' if tiers else ''}"
        yield from _lines(
            name,
            count,
            middle(turn[WARM:]),
            middle(orjson_[WARM:]),
            middle(echo[WARM:]),
            changed,
        )
        if count == max(COUNTS):
            text = sum(len(str(one.get("content") or "")) for one in given)
            figure = f"{taken / text:.1f} x ({taken >> 20} MB)"
            yield Row(f"{name}: memory / text", figure, "3 x", 0 < taken <= 3 * text)

    def row_of_workers(self, count: int) -> Row:
        """A turn of a session served by four processes in turn, over one served by one process."""
        given = list(messages(count + 2 * TURNS))
        took: dict[int, list[Timing]] = {}
        for served in (1, WORKERS):
            path = f"{self._session(count, 120, tiers=False)}/apply"
            for number in range(1, TURNS + 1):
                body = orjson.dumps({"messages": given[: count + 2 * number]})
                worker = self._workers[number % served]
                took.setdefault(served, []).append(worker.timed(path, body))
        one = middle(took[1][2 * WORKERS :])
        several = middle(took[WORKERS][2 * WORKERS :])
        figure = f"{several.cpu / one.cpu:.2f} x ({1000 * several.cpu:.1f} ms)"
        name = f"{count:,} × 120: a turn of {WORKERS} processes / of one"
        return Row(name, figure, "1.2 x", several.cpu <= 1.2 * one.cpu)

    def _session(self, count: int, operations: int, *, tiers: bool) -> str:
        wanted = {"count": count, "operations": operations, "tiers": tiers}
        made = self._ours.post("/bench/session", json.dumps(wanted).encode())
        return f"/api/sessions/{json.loads(made)['id']}"

    def _memory(self) -> int:
        return int(self._ours.post("/bench/memory", b""))


def _lines(
    name: str, count: int, turn: Timing, orjson_: Timing, echo: Timing, changed: Timing
) -> Iterator[Row]:
    """A turn against its peer, and the first turn after a change in the middle."""
    beside, peer, bar = {
        50: ("echo", echo, 1.5),
        200: ("echo", echo, 1.5),
        2_000: ("orjson", orjson_, 2.0),
        10_000: ("orjson", orjson_, 1.0),
    }[count]
    for what, took, most in (("a turn", turn, bar), ("after a change", changed, 3.0)):
        if what == "a turn" or beside == "orjson":
            figure = (
                f"{took.cpu / peer.cpu:.2f} x, {1000 * took.cpu:.1f} ms"
                f" ({took.wall / peer.wall:.2f} x, {1000 * took.wall:.1f} ms)"
            )
            is_met = took.cpu <= most * peer.cpu
            yield Row(f"{name}: {what} / {beside}", figure, f"{most:g} x", is_met)


def _read_and_written(body: bytes) -> Timing:
    cpu, begun = time.thread_time(), time.perf_counter()
    orjson.dumps(orjson.loads(body))
    wall = time.perf_counter() - begun
    return Timing(time.thread_time() - cpu, wall)


def middle(took: list[Timing]) -> Timing:
    return Timing(median(one.cpu for one in took), median(one.wall for one in took))


if __name__ == "__main__":
    for row in rows(tuple(map(int, sys.argv[1:])) or COUNTS):
        verdict = {None: "", True: "ok", False: "MISSED"}[row.ok]
        print(f"{row.name:56} {row.value:>40} {row.bar:>6} {verdict}", flush=True)
