"""Threads share what memory the C library has, and what they free goes back to the system."""

import asyncio
import platform
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from contextstudio import memory
from tests.servers import ROOT

GLIBC = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone")

THREADS = """
import ctypes, threading
from contextstudio.memory import share_arenas
if {shared}:
    share_arenas()
def take():
    held = [ctypes.create_string_buffer(4096) for _ in range(200)]
    together.wait()
together = threading.Barrier(6)
threads = [threading.Thread(target=take) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ctypes.CDLL(None).malloc_stats()
"""


def arenas(*, shared: bool) -> int:
    """The arenas of a process in which six threads took memory at once."""
    command = [sys.executable, "-c", THREADS.format(shared=shared)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stderr.count("Arena ")


@GLIBC
def test_threads_share_two_arenas() -> None:
    assert arenas(shared=True) == 2
    assert arenas(shared=False) > 2


FREED = """
import ctypes
from pathlib import Path
from contextstudio.memory import return_free_memory
c = ctypes.CDLL(None)
c.malloc.restype, c.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20
taken = [c.malloc(100_000) for _ in range(1_000)]
for one in taken:
    ctypes.memset(one, 1, 100_000)
stays = c.malloc(100_000)  # too long for a gap between what was allocated before
for one in taken:
    c.free(one)
print(resident())
return_free_memory()
print(resident())
"""


@GLIBC
def test_what_is_free_before_something_that_stays_goes_back_to_the_system() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FREED], cwd=ROOT, check=True, capture_output=True
    )
    before, after = map(int, done.stdout.split())
    assert before - after > 80


class Clock:
    """A loop's timers, which a test lets fire."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.waiting = 0.0, list[tuple[float, Any, tuple[Any, ...]]]()
        self.given_back = 0
        loop = asyncio.get_running_loop()
        clock = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr(memory, "time", clock)
        monkeypatch.setattr(loop, "call_later", self._later)
        monkeypatch.setattr(loop, "run_in_executor", lambda _, work: work())
        monkeypatch.setattr(memory, "return_free_memory", self._return_free_memory)

    def _later(self, delay: float, call: Any, *arguments: Any) -> None:
        self.waiting.append((self.now + delay, call, arguments))

    def _return_free_memory(self) -> None:
        self.given_back += 1

    def passes(self, seconds: float) -> None:
        self.now += seconds
        due = [one for one in self.waiting if one[0] <= self.now]
        self.waiting = [one for one in self.waiting if one[0] > self.now]
        for _, call, arguments in due:
            call(*arguments)


async def test_after_requests_memory_is_given_back_once_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)

    async def answered(*_: Any) -> None: ...

    freed: list[int] = []
    application = memory.with_memory_returned(
        answered, free=lambda: freed.append(clock.given_back)
    )
    for _ in range(3):
        await application({}, None, None)
    clock.passes(memory.PAUSE - 1)
    assert clock.given_back == 0
    clock.passes(1)
    assert clock.given_back == 1
    clock.passes(10 * memory.PAUSE)
    assert clock.given_back == 1
    await application({}, None, None)
    clock.passes(memory.PAUSE)
    assert clock.given_back == 2
    assert freed == [0, 1]  # each time before


async def test_after_a_request_that_fails_too(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    async def broken(*_: Any) -> None:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await memory.with_memory_returned(broken, free=list)({}, None, None)
    clock.passes(memory.PAUSE)
    assert clock.given_back == 1
