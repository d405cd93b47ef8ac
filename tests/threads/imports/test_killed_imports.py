"""An import whose worker is killed, again and again, is absent or complete, and gets done."""

import io
import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.servers import PATIENCE_SECONDS, ROOT, Server, StartServer

FILES, MESSAGES = 6, 90
KILLS = 6  # more than the attempts that may fail


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    """An archive of some transcripts, one of them without an id of its own."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(FILES):
            messages = [
                {"role": ("user", "assistant")[n % 2], "content": f"{number}: line {n}"}
                for n in range(MESSAGES)
            ]
            document: Any = {"messages": messages}
            if number:
                document["session_id"] = f"talk-{number}"
            archive.writestr(f"talks/{number}.json", json.dumps(document))
    path = tmp_path / "talks.zip"
    path.write_bytes(packed.getvalue())
    return path


def work(server: Server, talks: Path, *, steps: int | None) -> dict[str, Any] | None:
    """Let a worker import, and kill it after so many steps; its last line if it got that far."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.threads.imports.import_worker", str(talks)],
        cwd=ROOT,
        env=server.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    taken, last = 0, ""
    for line in process.stdout:
        last = line
        taken += line.startswith("step")
        if steps is not None and taken >= steps:
            process.kill()
            break
    process.stdout.close()
    process.wait(PATIENCE_SECONDS)
    return json.loads(last) if last.startswith("{") else None


def test_a_killed_import_is_absent_until_it_is_complete(
    start_server: StartServer, talks: Path
) -> None:
    server = start_server()
    server.stop()
    chance = random.Random(7)
    for _kill in range(KILLS):
        done = work(server, talks, steps=chance.randint(3, 10))
        assert done is None
    assert work(server, talks, steps=None) == {
        "status": "done",
        "sessions": FILES,
        "messages": FILES * MESSAGES,
        "events": 0,
        "staged": 0,
        "imports": 1,
    }
