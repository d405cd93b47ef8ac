"""The process of `bench.search.meaning`: messages, their vectors, and a question."""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from functools import partial

os.environ["CONTEXTSTUDIO_MEANING_SEARCH"] = "1"

from bench.search.queries_process import _batches, _record, _texts  # noqa: I001  # sets up Django
from django.db.models import Sum
from django.db.models.functions import Length

from bench.pages.pages_data import prepare
from contextstudio.accounts.selectors import caller_of_user
from threads.domain.body import decode_parts
from threads.domain.text import whole_text
from threads.models import Body, BodyVectors
from threads.search import meaning
from threads.search.by_meaning import search_by_meaning
from threads.sessions import services

ROUNDS = 5
QUESTION = "which limit of a session counts before it is written"


def main(count: int) -> None:
    """Print the figures as JSON: least CPU seconds of several rounds; bytes and megabytes."""
    owner, project = prepare()
    caller = caller_of_user(owner)
    session = services.open_session(caller, project, services.NewSession(title="It"))
    for batch in _batches(_texts(count)):
        _record(session, batch)
    at_first = _megabytes()
    meaning.make_question(QUESTION)
    with_model = _megabytes()
    making = _seconds(_make)
    size = BodyVectors.objects.aggregate(bytes=Sum(Length("kept")))["bytes"]
    before = _megabytes()
    search = partial(search_by_meaning, caller, QUESTION, limit=20)
    assert len(search().matches) == 20
    figures = {
        "model": with_model - at_first,
        "making": making,
        "bytes": size,
        "search": min(_seconds(search) for _ in range(ROUNDS)),
        "reading": min(_seconds(_read) for _ in range(ROUNDS)),
        "question": _megabytes() - before,
    }
    print(json.dumps(figures))


def _make() -> None:
    for _ in meaning.catch_up():
        pass


def _read() -> None:
    rows = Body.objects.values_list("content", flat=True)
    for content in rows.iterator(chunk_size=500):
        whole_text(decode_parts(bytes(content)))


def _seconds(act: Callable[[], object]) -> float:
    begun = time.process_time()
    act()
    return time.process_time() - begun


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(int(sys.argv[1]))
