"""The process of `bench.imports.large`: a server, one import, and the memory it held."""

import json
import os
import time
import uuid
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup()

from django.conf import settings  # noqa: E402  # only after Django is set up

from bench.pages.pages_data import prepare  # noqa: E402
from contextstudio.accounts.selectors import caller_of_user  # noqa: E402
from contextstudio.database.turns import turns_of  # noqa: E402
from threads import imports  # noqa: E402
from threads.imports.upload import keep_upload  # noqa: E402
from threads.models import Message  # noqa: E402

from .large import NAME  # noqa: E402


def main() -> None:
    """Print bytes and counts as JSON."""
    from contextstudio.asgi import application  # noqa: PLC0415  # what a server loads

    assert application is not None
    owner, project = prepare()
    idle = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # begin to count the most anew
    begun, job_id = time.monotonic(), uuid.uuid4()
    path = Path(settings.DATA_DIR) / NAME
    with path.open("rb") as file:
        upload = keep_upload(file, name=NAME)
    path.unlink()
    turns = turns_of(str(settings.DATABASES["default"]["NAME"]))
    turns.longest = 0
    done = imports.import_staged(
        caller_of_user(owner), project, upload, job_id=job_id, progress=lambda *_: None
    )
    peak, seconds = _resident("VmHWM"), time.monotonic() - begun
    reader = sum(_resident("VmHWM", child) for child in _children())
    found = {
        "idle": idle,
        "peak": peak + reader,
        "reader": reader,
        "seconds": seconds,
        "messages": done.recorded,
        "held": turns.longest,
    }
    print(json.dumps(found | {"stored": Message.objects.count()}))


def _children() -> list[str]:
    """The processes that this one has begun: that which reads."""
    tasks = Path("/proc/self/task").glob("*/children")
    return [child for task in tasks for child in task.read_text().split()]


def _resident(name: str, process: str = "self") -> int:
    """Bytes of a process in memory, or the most there were."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


if __name__ == "__main__":
    main()
