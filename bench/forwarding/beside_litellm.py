"""The proxy against LiteLLM's, one process each, same provider: `python -m …beside_litellm`.

LiteLLM's proxy needs other versions of packages that ContextStudio uses, so it has its own
environment, `.venv-litellm` (`make litellm-environment`). Both get the same conversations in turn,
each time with one more reply and question; ours finds the session and records what was sent and
replied. Figures are the CPU time of the process and, in brackets, the wall-clock time that a
request takes beyond the same one to the provider itself.
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.request import urlopen

import orjson

from bench import processes
from bench.context.replay import Row
from bench.transcript import messages

from .loop import Peer, Timing, middle
from .provider import SAID

ENVIRONMENT = Path(sys.prefix).resolve().parent / ".venv-litellm"
COUNTS = ((50, 10), (2_000, 50))
"""Numbers of messages, and by which factor ours must add less."""
TURNS, WARM = 12, 3
PATH = "/v1/chat/completions"
_PORT = 14_040
_SECONDS_TO_START = 120


def rows(program: Path = ENVIRONMENT / "bin" / "litellm") -> Iterator[Row]:
    """P1: what each adds to a request, at two lengths."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        provider, pid = stack.enter_context(
            processes.running_server(folder, "bench.forwarding.provider")
        ).split()
        ours = Peer(*stack.enter_context(proxying(folder, provider)))
        theirs = stack.enter_context(_litellm(program, folder, provider))
        ways = [Peer(provider, pid), ours, theirs]
        for count, factor in COUNTS:
            direct, us, them = _turns(ways, count)
            added = us.wall - direct.wall, them.wall - direct.wall
            figure = (
                f"1/{them.cpu / us.cpu:.1f}, {1000 * us.cpu:.1f} and {1000 * them.cpu:.1f} ms"
                f" (1/{added[1] / added[0]:.1f})"
            )
            name = f"P1 CPU of a turn / LiteLLM's (added p50), {count:,} messages"
            yield Row(name, figure, f"1/{factor}", us.cpu * factor <= them.cpu)


@contextmanager
def proxying(folder: Path, provider: str) -> Iterator[tuple[str, str, str]]:
    """Run the product in front of a provider; yields its address, process id and key."""
    served = processes.running_server(
        folder,
        "bench.forwarding.loop_server",
        PORT="0",
        CONTEXTSTUDIO_ALLOW_PRIVATE_UPSTREAMS="1",
    )
    with served as line:
        base, pid, key = line.split()
        body = orjson.dumps({"base_url": provider, "api_key": "sk-none"})
        Peer(base, pid, key).post("/api/projects/demo/upstreams/openai", body, "PUT")
        yield base, pid, key


def _turns(ways: list[Peer], count: int) -> list[Timing]:
    """The median turn of each way."""
    said = list(messages(count))
    took: list[list[Timing]] = [[] for _ in ways]
    for number in range(1, TURNS + WARM + 1):
        said += [{"role": "user", "content": f"Go on, {number} of {count}."}]
        body = orjson.dumps({"model": "gpt-4o", "messages": said})
        for way, known in zip(ways, took, strict=True):
            known.append(way.timed(PATH, body))
        said += [{"role": "assistant", "content": SAID}]
    return [middle(known[WARM:]) for known in took]


@contextmanager
def _litellm(program: Path, folder: Path, provider: str) -> Iterator[Peer]:
    """Run LiteLLM's proxy with a random key."""
    key, settings = f"sk-{secrets.token_hex(20)}", folder / "litellm.yaml"
    model = {"model": "openai/gpt-4o", "api_base": f"{provider}/v1", "api_key": "none"}
    told = {
        "model_list": [{"model_name": "gpt-4o", "litellm_params": model}],
        "litellm_settings": {"telemetry": False, "num_retries": 0},
        "general_settings": {"master_key": key},
    }
    settings.write_text(json.dumps(told))  # JSON is YAML
    arguments = ("--config", settings, "--host", "127.0.0.1", "--port", _PORT)
    process = subprocess.Popen(
        [program, *map(str, arguments), "--num_workers", "1", "--telemetry", "False"],
        cwd=folder,
        env=os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        base = f"http://127.0.0.1:{_PORT}"
        _await(base)
        yield Peer(base, str(process.pid), key)
    finally:
        process.terminate()
        process.wait(20)


def _await(base: str) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < end:
        try:
            urlopen(f"{base}/health/liveliness", timeout=5).close()  # our own
        except OSError:
            time.sleep(1)
        else:
            return
    raise RuntimeError("LiteLLM's proxy did not start")


if __name__ == "__main__":
    for row in rows(*map(Path, sys.argv[1:])):
        verdict = {None: "", True: "ok", False: "MISSED"}[row.ok]
        print(f"{row.name:56} {row.value:>30} {row.bar:>6} {verdict}", flush=True)
