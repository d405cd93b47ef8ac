"""The process of `bench.hindsight.checking`: hindsight, and reading, over its own data folder."""

import json
import os
import time
from collections.abc import Callable

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup()

import contextstudio.asgi  # noqa: E402, F401  # sets the garbage collector as a server does
from archive.domain.hindsight.texts import texts_of  # noqa: E402
from archive.hindsight import services  # noqa: E402
from bench.context.hook_process import COUNT, edited_session  # noqa: E402
from bench.pages.pages_data import prepare  # noqa: E402
from bench.transcript import messages  # noqa: E402
from contextstudio.accounts.selectors import caller_of_user  # noqa: E402
from operations.domain.log.operation import Tag  # noqa: E402
from operations.domain.tree.key import original_key  # noqa: E402
from operations.edits.services import record_edit  # noqa: E402
from operations.log.cache import forget_everything  # noqa: E402
from operations.log.selectors import load_thread  # noqa: E402
from operations.messages.reader import MessageReader  # noqa: E402
from threads.models import Session  # noqa: E402

ROUNDS = 5


def measure() -> dict[str, float]:
    """CPU seconds, and the number of references."""
    owner, project = prepare()
    made = edited_session(owner, project, list(messages(COUNT)))
    caller = caller_of_user(owner)

    def session() -> Session:
        return Session.objects.get(pk=made.pk)

    def read() -> int:
        thread = load_thread(session())
        found = MessageReader(session(), thread).effective(
            map(original_key, range(COUNT))
        )
        texts = [text for one in found.values() for text in texts_of(one.parts)]
        return sum(map(len, texts))

    def check() -> services.SessionHindsight:
        return services.of_log(caller, made.pk)

    found = check()
    times: dict[str, list[float]] = {"read": [], "check": [], "changed": []}
    for number in range(ROUNDS):
        for name, work in (("read", read), ("check", check)):
            forget_everything()
            times[name].append(_seconds(work))
        record_edit(caller, made.pk, Tag(targets=(f"m{number}",), tags=("seen",)))
        times["changed"].append(_seconds(check))
    least = {name: min(taken) for name, taken in times.items()}
    return {**least, "lost": found.lost, "references": found.references}


def _seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


if __name__ == "__main__":
    print(json.dumps(measure()))
