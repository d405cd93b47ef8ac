"""Threads share what memory the C library has."""

import platform
import subprocess
import sys

import pytest

from tests.servers import ROOT

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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc has arenas")
def test_threads_share_two_arenas() -> None:
    assert arenas(shared=True) == 2
    assert arenas(shared=False) > 2
