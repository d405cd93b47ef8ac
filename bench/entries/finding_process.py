"""The process of `bench.entries.finding`: fills an archive and queries it."""

import json
import math
import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup()

from django.conf import settings  # noqa: E402  # only after Django is set up
from django.db import connection  # noqa: E402
from django.db.models import UUIDField  # noqa: E402
from django.utils import timezone  # noqa: E402

from archive.entries.finding import (  # noqa: E402
    ArchiveQuery,
    facets_of,
    list_entries,
)
from archive.entries.selectors import entries_of  # noqa: E402
from archive.entries.words import ENTRIES, searched  # noqa: E402
from archive.models import ArchiveEntry  # noqa: E402
from bench.entries.filling import (  # noqa: E402
    RARE_TOOL,
    RARE_TYPE,
    fill,
)
from bench.pages.pages_data import prepare  # noqa: E402
from bench.search.patterns import timed  # noqa: E402
from contextstudio.accounts.domain.caller import Caller  # noqa: E402
from contextstudio.accounts.models import Project  # noqa: E402
from contextstudio.accounts.selectors import caller_of_user  # noqa: E402
from contextstudio.accounts.services import create_project  # noqa: E402
from contextstudio.database.prepared import Param, Prepared  # noqa: E402
from threads.models import Session  # noqa: E402

ROUNDS = 5
LOOK_UPS = 200


def main(count: int) -> None:
    """Print the figures as JSON: seconds, the least of several rounds."""
    owner, project = prepare()
    other = create_project(caller_of_user(owner), slug="other", name="Other")
    begun = time.perf_counter()
    fill([project, other], count)
    caller = caller_of_user(owner)
    found: dict[str, Any] = {"filled": time.perf_counter() - begun}
    found["recall"] = _recalling(project)
    found["lists"] = _least(
        {
            name: partial(_list, caller, query)
            for name, query in _queries(project).items()
        }
        | {"choices": partial(facets_of, caller, ArchiveQuery(project=project.slug))}
    )
    begun = time.perf_counter()
    for _ in ENTRIES.catch_up():
        pass
    found["build"] = time.perf_counter() - begun
    _prepare_scan()
    found["of a path"] = _least(
        {"list": partial(_list, caller, ArchiveQuery(path="table/check_77.py"))}
    )["list"]
    found["words"] = timed(
        _scan, _first, lambda words: _list(caller, ArchiveQuery(words=words), 20)
    )
    print(json.dumps(found))


def _queries(project: Project) -> dict[str, ArchiveQuery]:
    """The queries by name; most are within one project, as on the page."""
    hour = timezone.now() - timedelta(hours=1)
    slug = project.slug
    return {
        "newest": ArchiveQuery(project=slug),
        "newest of all projects": ArchiveQuery(),
        "of a type": ArchiveQuery(project=slug, content_type="file_view"),
        "of a rare type": ArchiveQuery(project=slug, content_type=RARE_TYPE),
        "of a rare tool": ArchiveQuery(project=slug, tool=RARE_TOOL),
        "file views of the last hour": ArchiveQuery(
            project=slug, content_type="file_view", since=hour
        ),
    }


def _list(caller: Caller, query: ArchiveQuery, limit: int = 50) -> None:
    list_entries(caller, query, cursor=None, limit=limit)


def _recalling(project: Project) -> dict[str, float]:
    """CPU seconds: finding entries by the names in references, and by primary key."""
    rows = ArchiveEntry.objects.filter(project=project).order_by("pk")
    some = list(rows.values_list("pk", "session_id", "name")[:LOOK_UPS])
    sessions = Session.objects.in_bulk([session for _, session, _ in some])
    named = [(sessions[session], name) for _, session, name in some]
    entries = ArchiveEntry.objects.select_related("content")
    one = Prepared(lambda: entries.filter(pk=Param("key", UUIDField())))

    def by_key() -> None:
        for key, _, _ in some:
            (_,) = one.rows(key=key)

    def by_reference() -> None:
        for session, name in named:
            (_,) = entries_of(session, name, 20)

    return _least({"key": by_key, "reference": by_reference}, time.process_time)


def _prepare_scan() -> None:
    """Copy the folded texts to a table without an index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE plain AS SELECT words AS folded FROM archive_entrywords"
        )
        if not settings.ON_SQLITE:
            cursor.execute("ANALYZE")


def _scan(words: str) -> None:
    escaped = words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM plain WHERE folded LIKE %s ESCAPE '\\'",
            [f"%{escaped}%"],
        )
        cursor.fetchone()


def _first(words: str) -> list[int]:
    """The first ids that the index finds."""
    return list(islice(ENTRIES.candidates(searched(words)), 20))


def _least(
    works: dict[str, Callable[[], object]],
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """The least time of each, in interleaved rounds."""
    seconds = dict.fromkeys(works, math.inf)
    for _ in range(ROUNDS):
        for name, work in works.items():
            begun = clock()
            work()
            seconds[name] = min(seconds[name], clock() - begun)
    return seconds


if __name__ == "__main__":
    main(int(sys.argv[1]))
