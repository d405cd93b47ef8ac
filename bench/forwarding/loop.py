"""What a turn of a loop costs (the forty turns of `apply`): `python -m bench.forwarding.loop`.

An agent's loop sends its whole conversation with every request, two messages more each time. The
turns go through HTTP to a server with key check, gate and durable write; beside each, in turn,
orjson reads and writes the same body in this process, and a bare ASGI application without Django
takes it, inserts one row durably and echoes it. Figures are medians of wall-clock time.
`python -m bench.forwarding.loop COUNT…` measures these numbers of messages alone.
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
from typing import Any
from urllib.parse import urlsplit

import orjson

from bench import apart
from bench.context.replay import Row
from bench.transcript import messages

TURNS = 40
COUNTS = (50, 200, 2_000, 10_000)
OPERATIONS = (0, 120, 1_000)
WARM = 2
"""Turns before those that count: the first reads the session."""


def rows(counts: tuple[int, ...] = COUNTS) -> Iterator[Row]:
    """One line for each size, number of operations and policy."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ours, key = stack.enter_context(
            apart.served(folder, "bench.forwarding.loop_server", PORT="0")
        ).split()
        echo = stack.enter_context(
            apart.served(folder, "bench.forwarding.loop_echo")
        ).strip()
        loop = _Loop(_Peer(ours, key), _Peer(echo))
        for count, operations, tiers in product(counts, OPERATIONS, (False, True)):
            yield from loop.rows(count, operations, tiers=tiers)


class _Peer:
    """A server, over one connection."""

    def __init__(self, base: str, key: str = "") -> None:
        address = urlsplit(base)
        self._line = http.client.HTTPConnection(address.hostname or "", address.port)
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def post(self, path: str, body: bytes) -> bytes:
        self._line.request("POST", path, body, self._headers)
        response = self._line.getresponse()
        answer = response.read()
        if response.status not in (http.HTTPStatus.OK, http.HTTPStatus.CREATED):
            raise RuntimeError(answer[:500])
        return answer


class _Loop:
    def __init__(self, ours: _Peer, echo: _Peer) -> None:
        self._ours, self._echo = ours, echo

    def rows(self, count: int, operations: int, *, tiers: bool) -> Iterator[Row]:
        given = list(messages(count + 2 * (TURNS + WARM + 1)))
        wanted = {"count": count, "operations": operations, "tiers": tiers}
        before = self._memory()
        made = self._ours.post("/bench/session", json.dumps(wanted).encode())
        path = f"/api/sessions/{json.loads(made)['id']}"
        apply = f"{path}/apply"
        orjson_, echo, turn = [], [], []
        for number in range(1, TURNS + WARM + 1):
            body = orjson.dumps({"messages": given[: count + 2 * number]})
            orjson_.append(_timed(lambda body=body: orjson.dumps(orjson.loads(body))))
            echo.append(_timed(lambda body=body: self._echo.post("/", body)))
            turn.append(_timed(lambda body=body: self._ours.post(apply, body)))
        taken = self._memory() - before
        edit = {"type": "snip", "targets": [f"m{count // 2 + 1}"]}
        self._ours.post(f"{path}/operations", json.dumps(edit).encode())
        body = orjson.dumps({"messages": given})
        changed = _timed(lambda: self._ours.post(apply, body))
        name = f"{count:,} × {operations:,}{', window and tiers' if tiers else ''}"
        yield from _lines(
            name,
            count,
            median(turn[WARM:]),
            median(orjson_[WARM:]),
            median(echo[WARM:]),
            changed,
        )
        if count == max(COUNTS):
            text = sum(len(str(one.get("content") or "")) for one in given)
            figure = f"{taken / text:.1f} x ({taken >> 20} MB)"
            yield Row(f"{name}: memory / text", figure, "3 x", taken <= 3 * text)

    def _memory(self) -> int:
        return int(self._ours.post("/bench/memory", b""))


def _lines(
    name: str, count: int, turn: float, orjson_: float, echo: float, changed: float
) -> Iterator[Row]:
    """A turn over what it is held to, and the first turn after a change in the middle."""
    beside, peer, bar = {
        50: ("echo", echo, 1.5),
        200: ("echo", echo, 1.5),
        2_000: ("orjson", orjson_, 2.0),
        10_000: ("orjson", orjson_, 1.0),
    }[count]
    figure = f"{turn / peer:.2f} x ({1000 * turn:.1f} ms)"
    yield Row(f"{name}: a turn / {beside}", figure, f"{bar:g} x", turn <= bar * peer)
    if beside == "orjson":
        figure = f"{changed / peer:.2f} x ({1000 * changed:.1f} ms)"
        yield Row(f"{name}: after a change", figure, "3 x", changed <= 3 * peer)


def _timed(work: Any) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    for row in rows(tuple(map(int, sys.argv[1:])) or COUNTS):
        verdict = {None: "", True: "ok", False: "MISSED"}[row.ok]
        print(f"{row.name:48} {row.value:>20} {row.bar:>6} {verdict}", flush=True)
