"""The process of `bench.imports.importing`: rows and imports over its own data folder."""

import gc
import json
import os
import time
import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup()

from django.conf import settings  # noqa: E402  # only after Django is set up
from django.db import connection, transaction  # noqa: E402

from bench.pages.pages_data import prepare  # noqa: E402
from contextstudio.accounts.selectors import caller_of_user  # noqa: E402
from threads import imports, tokens  # noqa: E402
from threads.domain import batch  # noqa: E402
from threads.domain.tokens import Words  # noqa: E402
from threads.imports.upload import keep_upload  # noqa: E402
from threads.models import Body, Message, Session, Source  # noqa: E402
from threads.sessions import services  # noqa: E402
from threads.store import recording, rows  # noqa: E402

from . import files  # noqa: E402

MESSAGES = 10_000
CLAUDE_LINES, CODEX_LINES = 6_000, 12_000
"""Lines of the agents' files, which are some 20 MB each."""
ROUNDS = 9
clock = time.perf_counter


def count_nothing(
    messages: Iterable[Words], encoding: str = tokens.DEFAULT
) -> list[list[int]]:
    """Replaces `tokens.count_words`: counting is measured separately."""
    return [[1] * len(words) for words in messages]


def main() -> None:
    """Print the figures as JSON: seconds, the least of several rounds."""
    from contextstudio.asgi import application  # noqa: PLC0415  # what a server loads

    assert application is not None
    owner, project = prepare()
    connection.close()  # as in a server that hasn't migrated, or rows cost a third more
    caller = caller_of_user(owner)
    found = {"D1": time_writing(caller, project)}
    if settings.ON_SQLITE:
        tokens.count_words = count_nothing
        for name, path, read in input_files(Path(settings.DATA_DIR)):
            found[name] = time_imports(caller, project, path, read)
    print(json.dumps(found))


def time_writing(caller: Any, project: Any) -> dict[str, float]:
    """D1: the rows of messages whose bodies are stored."""
    session = services.open_session(caller, project, services.NewSession(title="D1"))
    source = Source.objects.create(
        project=project, session=session, sha256="0" * 64, size=1, name="d1"
    )
    columns, models = _rows(session, source)

    def ours() -> None:
        for start in range(0, MESSAGES, batch.MAX_ITEMS):
            some = [one[start : start + batch.MAX_ITEMS] for one in columns]
            rows.insert_messages(session, source.pk, some)

    def theirs() -> None:
        Message.objects.bulk_create(models, batch_size=1_000)

    seconds = _least(_rolled_back(ours), _rolled_back(theirs))
    return {"rows": seconds[0], "models": seconds[1], "messages": MESSAGES}


def _rows(session: Session, source: Source) -> tuple[list[list[Any]], list[Message]]:
    """The same messages as columns and as models."""
    at = datetime(2026, 3, 1, 9, tzinfo=UTC)
    bodies = [
        Body(
            project_id=session.project_id,
            digest=number.to_bytes(32),
            content=b'[{"text":"%d","type":"text"}]' % number,
            token_counts={"o200k_base": [number]},
        )
        for number in range(MESSAGES)
    ]
    Body.objects.bulk_create(bodies)
    keys = list(Body.objects.order_by("digest").values_list("pk", flat=True))
    drawn = zip(
        recording._draw_uuids(MESSAGES),
        recording._draw_short_ids(MESSAGES),
        strict=True,
    )
    listed = [
        (
            *(number, uuid, keys[number], number, number // 9),
            *(("user", "assistant")[number % 2], "complete", None, None, "", ""),
            *(f"msg_{number:024d}", *rows.moments(batch.times([at]), 1)),
            *(f'["bytes:{number * 900}-{number * 900 + 899}"]', short_id),
        )
        for number, (uuid, short_id) in enumerate(drawn)
    ]
    models = []
    for row in listed:
        values = dict(zip(rows.MESSAGE_COLUMNS, row, strict=True))
        values |= {"records": json.loads(values["records"]), "created_at": at}
        values |= {"session": session, "source": source, "parsing_strategy": "openai"}
        models.append(Message(**values))
    return [list(column) for column in zip(*listed, strict=True)], models


def _rolled_back(write: Callable[[], None]) -> Callable[[], float]:
    """A timed run whose rows are rolled back."""

    def run() -> float:
        with transaction.atomic():
            begun = clock()
            write()
            spent = clock() - begun
            assert Message.objects.count() == MESSAGES
            transaction.set_rollback(True)
        return spent

    return run


def input_files(folder: Path) -> Iterable[tuple[str, Path, Callable[[Path], object]]]:
    """The files, and how their baseline reads them."""
    said = files.chat(MESSAGES)
    for name, values in (
        ("Claude Code", files.claude_code(CLAUDE_LINES)),
        ("Codex", files.codex(CODEX_LINES)),
        ("10,000 short, JSON Lines", said),
    ):
        path = folder / f"{name}.jsonl"
        path.write_bytes(b"".join(files.lines(values)))
        yield name, path, _by_line
    lines = path
    path = folder / "list.json"
    path.write_text(json.dumps(said))
    yield "10,000 short, a list", path, lambda _: _by_line(lines)


def _by_line(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def time_imports(
    caller: Any,
    project: Any,
    path: Path,
    read: Callable[[Path], object],
) -> dict[str, float]:
    """Seconds of an import without counting tokens, and of only reading its JSON."""
    messages = 0

    def run() -> float:
        nonlocal messages
        with path.open("rb") as file:
            upload = keep_upload(file, name=path.name)
        begun = clock()
        done = imports.import_without_job(
            caller, project, upload, stage=uuid.uuid4(), progress=lambda *_: None
        )
        spent = clock() - begun
        messages = done.recorded
        _forget(done.sessions)
        return spent

    def alone() -> float:
        begun = clock()
        read(path)
        return clock() - begun

    ours, baseline = _least(run, alone)
    return {"import": ours, "json": baseline, "messages": messages}


def _forget(sessions: list[Session]) -> None:
    for session in sessions:
        session.delete()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM threads_body")


def _least(*runs: Callable[[], float]) -> list[float]:
    """The least of interleaved rounds, not counting the first."""
    spent: list[list[float]] = [[] for _ in runs]
    for number in range(ROUNDS + 1):
        for run, seconds in zip(runs, spent, strict=True):
            gc.collect()
            taken = run()
            if number:
                seconds.append(taken)
    return [min(seconds) for seconds in spent]


if __name__ == "__main__":
    main()
