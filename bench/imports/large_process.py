"""The process of `bench.imports.large`: a server, one import, and its peak memory."""

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
from contextstudio.database import write_queue  # noqa: E402
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
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    begun, job_id = time.monotonic(), uuid.uuid4()
    path = Path(settings.DATA_DIR) / NAME
    with path.open("rb") as file:
        upload = keep_upload(file, name=NAME)
    database = str(settings.DATABASES["default"]["NAME"])
    line = write_queue._queues[database] = MeasuredTurns()
    done = imports.import_staged(
        caller_of_user(owner), project, upload, job_id=job_id, progress=lambda *_: None
    )
    peak, seconds = _resident("VmHWM"), time.monotonic() - begun
    path.unlink()  # not earlier: freeing 1 GB on disk may delay commits
    reader = sum(_resident("VmHWM", child) for child in _children())
    found = {
        "idle": idle,
        "peak": peak + reader,
        "reader": reader,
        "seconds": seconds,
        "messages": done.recorded,
        "held": line.longest,
        "waited": line.waited,
    }
    print(json.dumps(found | {"stored": Message.objects.count()}))


class MeasuredTurns(write_queue.WriteQueue):
    """A queue that records how much of its longest turn passed without a processor."""

    waited = 0.0
    _before = 0.0

    def acquire(self, timeout: float) -> bool:
        """Wait for a turn."""
        taken = super().acquire(timeout)
        if taken:
            self._before = _without_processor()
        return taken

    def release(self) -> None:
        """End a turn."""
        longest, waited = self.longest, _without_processor() - self._before
        super().release()
        if self.longest > longest:
            self.waited = waited


def _without_processor() -> float:
    """Seconds that this thread was runnable without having a processor, since it began."""
    return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9


def _children() -> list[str]:
    """The child processes of this one: the reader."""
    tasks = Path("/proc/self/task").glob("*/children")
    return [child for task in tasks for child in task.read_text().split()]


def _resident(name: str, process: str = "self") -> int:
    """Resident memory of a process in bytes, current or peak."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


if __name__ == "__main__":
    main()
