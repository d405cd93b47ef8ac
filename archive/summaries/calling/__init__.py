"""One call of a model, made by litellm in a process of its own.

litellm takes seconds and 160 MB to import, reads the environment and follows redirects, so no
process that serves or works imports it. The process (`worker`) gets one request at a time, with
the key, by a pipe. It goes to the network only by `transport`, stays for the next call, and ends
by itself when there is none for a while or when this process ends.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from multiprocessing import connection
from pathlib import Path
from typing import IO, Any, cast

from .outcome import CallFailed, CallUsage, Failure

__all__ = ["CallFailed", "Failure", "ModelCall", "Usage", "call_model"]

_WORKER = f"{__name__}.worker"
_ROOT = Path(__file__).resolve().parents[3]
_PASSED_ON = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE", "COVERAGE_PROCESS_CONFIG"),
)
"""All that it gets of the environment: no key, no proxy, no setting of litellm."""
MOST_CHARACTERS = 400_000
"""Of an answer; what is longer is no summary."""
_BETWEEN_TICKS = 0.3
"""Seconds after which the caller is asked whether to go on, while nothing comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """What to ask, of whom."""

    form: str
    """How litellm calls it: `hosted_vllm`, `anthropic`, `gemini`."""
    model: str
    base_url: str
    api_key: str
    messages: list[dict[str, str]]
    max_tokens: int
    timeout: float
    """Seconds that the provider may be silent."""
    private: bool
    """Whether addresses of private networks may be dialled."""


def call_model(
    call: ModelCall,
    *,
    on_text: Callable[[str], object],
    tick: Callable[[], object] = lambda: None,
) -> CallUsage:
    """Ask a model; its answer comes in pieces to `on_text`. What it used, as it counted.

    Raises CallFailed. What `tick` raises, a few times a second, ends the call.
    """
    process = _take(call)
    try:
        for told in process.answers(call.timeout, tick):
            if "text" in told:
                on_text(told["text"])
            elif "failed" in told:
                _keep(process)
                raise CallFailed(**told["failed"])
            else:
                _keep(process)
                return CallUsage(**told["done"])
        raise CallFailed(Failure.BROKEN)
    except CallFailed:
        raise
    except BaseException:
        process.end()
        raise


class _Process:
    """The process that litellm is in."""

    def __init__(self) -> None:
        kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        fixed = {"LITELLM_MODE": "PRODUCTION", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        self._process = subprocess.Popen(  # noqa: S603  # this Python, a module of ours
            [sys.executable, "-m", _WORKER, str(os.getpid())],
            cwd=_ROOT,
            env=kept | fixed,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl+C is for the server, which ends it
        )

    def is_running(self) -> bool:
        return self._process.poll() is None

    def send(self, call: ModelCall) -> None:
        """Send a request. Raises OSError where the process has ended."""
        pipe = cast(IO[bytes], self._process.stdin)
        pipe.write(json.dumps(asdict(call)).encode() + b"\n")
        pipe.flush()

    def answers(
        self, patience: float, tick: Callable[[], object]
    ) -> Iterator[dict[str, Any]]:
        """What it answers, line by line. Raises CallFailed where it is silent for too long."""
        pipe, waiting, size = cast(IO[bytes], self._process.stdout), b"", 0
        heard = time.monotonic()
        while True:
            if connection.wait([pipe.fileno()], _BETWEEN_TICKS):
                piece = os.read(pipe.fileno(), 65_536)
                if not piece:
                    self.end()
                    return
                *lines, waiting = (waiting + piece).split(b"\n")
                for line in lines:
                    size += len(line)
                    yield json.loads(line)
                heard = time.monotonic()
            tick()
            # The process itself gives up first, unless it hangs.
            late = time.monotonic() - heard > patience + _TO_START
            if late or size > MOST_CHARACTERS:
                self.end()
                raise CallFailed(Failure.SILENT if late else Failure.BROKEN)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                cast(IO[bytes], pipe).close()
            except OSError:  # what was left to send
                pass


_TO_START = 60.0
"""Seconds that importing litellm may take on a busy machine."""
_idle: list[_Process] = []
"""At most one process that waits for the next call; it may have ended by itself meanwhile."""
_lock = threading.Lock()
os.register_at_fork(after_in_child=_idle.clear)  # they belong to the parent


def _take(call: ModelCall) -> _Process:
    """A process that has the request."""
    with _lock:
        process = _idle.pop() if _idle else None
    if process is not None:
        try:
            if process.is_running():
                process.send(call)
                return process
        except OSError:
            pass
        process.end()
    process = _Process()
    process.send(call)
    return process


def _keep(process: _Process) -> None:
    with _lock:
        if not _idle:
            _idle.append(process)
            return
    process.end()
