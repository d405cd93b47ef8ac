"""Calls a model through litellm, in a separate process.

litellm takes seconds and 160 MB to import, reads the environment and follows redirects, so no
server or job process imports it. The separate process (`worker`) gets one request at a time, with
the key, through a pipe. It reaches the network only through `transport`, waits for the next call,
and exits when there is none for a while or when this process ends.
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
"""The only environment variables it gets: no keys, no proxies, no litellm settings."""
MAX_CHARACTERS = 400_000
"""Most characters of an answer; anything longer is not a summary."""
_BETWEEN_TICKS = 0.3
"""Seconds between calls of `tick` while no output arrives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A request to a model, and where to send it."""

    form: str
    """litellm's name for the provider: `hosted_vllm`, `anthropic`, `gemini`."""
    model: str
    base_url: str
    api_key: str
    messages: list[dict[str, str]]
    max_tokens: int
    timeout: float
    """Seconds that the provider may be silent."""
    private: bool
    """Whether addresses in private networks may be dialled."""


def call_model(
    call: ModelCall,
    *,
    on_text: Callable[[str], object],
    tick: Callable[[], object] = lambda: None,
) -> CallUsage:
    """Call a model and pass its answer in pieces to `on_text`; returns the usage it reports.

    Raises CallFailed. `tick` is called a few times a second; an exception from it ends the call.
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
    """The process that runs litellm."""

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
            start_new_session=True,  # Ctrl+C is for the server, which ends this process
        )

    def is_running(self) -> bool:
        return self._process.poll() is None

    def send(self, call: ModelCall) -> None:
        """Send a request. Raises OSError if the process has ended."""
        pipe = cast(IO[bytes], self._process.stdin)
        pipe.write(json.dumps(asdict(call)).encode() + b"\n")
        pipe.flush()

    def answers(
        self, patience: float, tick: Callable[[], object]
    ) -> Iterator[dict[str, Any]]:
        """Yield its answer line by line. Raises CallFailed if it is silent for too long."""
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
            # The process itself times out first, unless it hangs.
            late = time.monotonic() - heard > patience + _TO_START
            if late or size > MAX_CHARACTERS:
                self.end()
                raise CallFailed(Failure.SILENT if late else Failure.BROKEN)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                cast(IO[bytes], pipe).close()
            except OSError:  # unsent data could not be flushed
                pass


_TO_START = 60.0
"""Seconds that importing litellm may take on a busy machine."""
_idle: list[_Process] = []
"""At most one process that waits for the next call; it may have exited in the meantime."""
_lock = threading.Lock()
os.register_at_fork(after_in_child=_idle.clear)  # processes belong to the parent


def _take(call: ModelCall) -> _Process:
    """Send the request to the idle process, or to a new one, and return that process."""
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
