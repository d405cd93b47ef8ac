"""Edits of one session by one writer and by many: `python -m bench.writers.line`, in `make soak`.

A server as `make run` starts it, over a fresh data folder. Each writer is a thread of this process
with its own connection, which records a tag as soon as the last one is answered. One writer and
sixteen write for the same time, each to a new session of 200 messages.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

import httpx

from bench.context.replay import Row
from bench.processes import ROOT

SECONDS = 10
WRITERS = 16
MESSAGES = 200
MAX_P99_TO_P50 = 20


class WriteResult(NamedTuple):
    """The result of some writers."""

    rate: float
    """Edits per second."""
    p50: float
    p99: float
    errors: int


def soak() -> Iterator[Row]:
    """The rates of one and of many writers, and how long the slowest waited."""
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
        one = write(server, 1)
        many = write(server, WRITERS)
    yield Row(
        f"edits a second by {WRITERS} writers, and by one",
        f"{many.rate:.0f}, {one.rate:.0f}",
        "as many",
        many.rate >= one.rate,
    )
    ratio = many.p99 / many.p50
    yield Row(
        f"p99 of {WRITERS} writers, x p50",
        f"{ratio:.1f} ({1000 * many.p99:.0f} ms)",
        f"<= {MAX_P99_TO_P50}",
        ratio <= MAX_P99_TO_P50,
    )
    errors = one.errors + many.errors
    yield Row("errors of all writers", str(errors), "0", errors == 0)


def write(server: "Server", count: int) -> WriteResult:
    """Let `count` writers write to a new session."""
    messages = [
        {"role": ("user", "assistant")[n % 2], "content": f"message {n}"}
        for n in range(MESSAGES)
    ]
    with server.client() as client:
        made = client.post("/api/sessions", json={"messages": messages}).json()
    path = f"/api/sessions/{made['id']}/operations"
    end = time.monotonic() + SECONDS

    def work(number: int) -> tuple[list[float], int]:
        times, errors = list[float](), 0
        with server.client() as client:
            while (begun := time.monotonic()) < end:
                place = (number * 7 + len(times)) % MESSAGES
                body = {"type": "tag", "range": [place, place], "tags": [f"w{number}"]}
                answer = client.post(path, json=body)
                errors += answer.status_code != 201
                times.append(time.monotonic() - begun)
        return times, errors

    with ThreadPoolExecutor(count) as pool:
        done = list(pool.map(work, range(count)))
    times = [one for some, _ in done for one in some]
    cuts = quantiles(times, n=100)
    errors = sum(errors for _, errors in done)
    return WriteResult(len(times) / SECONDS, cuts[49], cuts[98], errors)


class Server:
    """`manage.py serve` over a folder, with a key for its project."""

    def __init__(self, folder: Path) -> None:
        self._environment = os.environ | {
            "CONTEXTSTUDIO_DATA_DIR": str(folder),
            "DATABASE_URL": "",
            "PORT": "0",
            "PYTHONUNBUFFERED": "1",
        }

    def __enter__(self) -> "Server":
        command = [sys.executable, "manage.py"]
        options = {"cwd": ROOT, "env": self._environment, "text": True}
        self._process = subprocess.Popen(
            [*command, "serve"], stdout=subprocess.PIPE, **options
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        self._base = line.split(": ", 1)[1].split("/sign-in", 1)[0]
        made = subprocess.run(
            [*command, "create_key", "--project", "demo"],
            check=True,
            stdout=subprocess.PIPE,
            **options,
        )
        self._key = made.stdout.strip()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)

    def client(self) -> httpx.Client:
        """A client with its own connection."""
        headers = {"Authorization": f"Bearer {self._key}"}
        return httpx.Client(base_url=self._base, headers=headers, timeout=60)


if __name__ == "__main__":
    for row in soak():
        print(f"{row.name:44} {row.value:>22} {row.bar:>12} {row.ok}", flush=True)
