"""The process of `bench.search.queries`: messages, an index, and patterns of every kind."""

import json
import os
import random
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup()

from django.conf import settings  # noqa: E402  # only after Django is set up
from django.db import connection, transaction  # noqa: E402

from bench.pages.pages_data import prepare  # noqa: E402
from bench.search.patterns import NEEDLE, timed  # noqa: E402
from bench.transcript import _Author  # noqa: E402
from contextstudio.accounts.selectors import caller_of_user  # noqa: E402
from threads.domain.body import digest_of, encode_parts  # noqa: E402
from threads.domain.message import Message, Role  # noqa: E402
from threads.domain.part import Text  # noqa: E402
from threads.models import Session  # noqa: E402
from threads.search.bodies import BODIES  # noqa: E402
from threads.search.services import search  # noqa: E402
from threads.sessions import services  # noqa: E402
from threads.store import recording, rows  # noqa: E402

NEEDLES = 20
BATCH = 10_000
APPENDED = 200


def main(count: int) -> None:
    """Print the figures as JSON: seconds, the least of several rounds; bytes."""
    owner, project = prepare()
    caller = caller_of_user(owner)
    session = services.open_session(caller, project, services.NewSession(title="D2"))
    size = sum(_record(session, batch) for batch in _batches(_texts(count)))
    before = _bytes()
    begun = time.perf_counter()
    for _ in BODIES.catch_up():
        pass
    found: dict[str, dict[str, float]] = {
        "build": {"seconds": time.perf_counter() - begun},
        "size": {"index": _bytes() - before, "text": size},
    }
    _prepare_scan()
    found |= timed(_scan, _first, partial(search, caller, limit=20))
    found["append"] = _appending(session)
    print(json.dumps(found))


def _texts(count: int) -> Iterator[str]:
    """Texts of about 270 characters, all different, some with the needle."""
    author, chance = _Author(11), random.Random(11)
    drawn = [author.prose(100, 400) for _ in range(5_000)]
    every = max(1, count // NEEDLES)
    for number in range(count):
        words = f"{chance.choice(drawn)} Number {number}."
        yield f"{words} {NEEDLE}" if number % every == every // 2 else words


def _batches(texts: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(texts, BATCH)):
        yield batch


def _record(session: Session, texts: list[str]) -> int:
    """Write messages as `threads.store.recording` does, without tokens; returns bytes of text."""
    contents = [encode_parts((Text(text),)) for text in texts]
    digests = [digest_of(Role.USER, content) for content in contents]
    start, count = session.message_count, len(texts)
    with transaction.atomic():
        ids = rows.insert_bodies(
            session.project_id, [digests, [None] * count, contents, ["{}"] * count]
        )
        columns: list[Any] = [
            range(start, start + count),
            recording._draw_uuids(count),
            [ids[digest] for digest in digests],
            [60] * count,
            [1] * count,
            ["user"] * count,
            ["complete"] * count,
            [None] * count,
            [None] * count,
            *([""] * count for _ in range(3)),
            [None] * count,
            ["[]"] * count,
            [f"msg-{number:08x}" for number in range(start, start + count)],
        ]
        rows.insert_messages(session, None, columns)
        session.message_count += count
        session.save(update_fields=["message_count"])
    return sum(len(text.encode()) for text in texts)


def _prepare_scan() -> None:
    """Copy the folded texts to a table without an index."""
    with connection.cursor() as cursor:
        if not settings.ON_SQLITE:
            cursor.execute(
                "CREATE TABLE plain AS SELECT lower(convert_from(content, 'UTF8')::json"
                " -> 0 ->> 'text') AS folded FROM threads_body"
            )
            cursor.execute("ANALYZE")
            return
        cursor.execute("CREATE TABLE plain (folded TEXT)")
        cursor.execute(
            "INSERT INTO plain SELECT lower(json_extract(CAST(content AS TEXT),"
            " '$[0].text')) FROM threads_body"
        )


def _scan(words: str) -> None:
    escaped = words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM plain WHERE folded LIKE %s ESCAPE '\\'",
            [f"%{escaped}%"],
        )
        cursor.fetchone()


def _appending(session: Session) -> dict[str, float]:
    """Seconds of appending one by one: alone, and including the update of the index."""
    alone = _append(session, "alone")
    indexed = _append(session, "indexed")
    begun = time.perf_counter()
    for _ in BODIES.catch_up():
        pass
    return {
        "alone": alone,
        "indexed": indexed + time.perf_counter() - begun,
        "messages": APPENDED,
    }


def _append(session: Session, word: str) -> float:
    texts = [f"{word} {number} {text}" for number, text in enumerate(_texts(APPENDED))]
    given = [Message(role=Role.USER, parts=(Text(text),)) for text in texts]
    recording.record_messages(session, given[:1])
    begun = time.perf_counter()
    for message in given[1:]:
        with transaction.atomic():
            recording.record_messages(session, [message])
    return time.perf_counter() - begun


def _bytes() -> int:
    """The size of the index in the database."""
    with connection.cursor() as cursor:
        if settings.ON_SQLITE:
            cursor.execute("SELECT sum(length(block)) FROM threads_bodytext_data")
        else:
            cursor.execute(
                "SELECT pg_total_relation_size('threads_bodytext')"
                " + pg_total_relation_size('threads_bodyrun')"
            )
        return int(cursor.fetchone()[0] or 0)


def _first(words: str) -> list[int]:
    """The first ids that the index finds."""
    return list(islice(BODIES.candidates(words), 20))


if __name__ == "__main__":
    main(int(sys.argv[1]))
