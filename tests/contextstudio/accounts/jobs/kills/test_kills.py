"""Every job ends once, no session is torn, nothing is paid for twice: whatever is killed when."""

import json
import os
import random
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.archive.summaries.provider import KEY, FakeProvider, serve
from tests.servers import ROOT, Server, stopped_copy

from .installation import Distributed, Embedded, running
from .journal import Journal
from .person import FILES, IMPORT, LINES, Person

SOAK = bool(os.environ.get("SOAK"))
ROUNDS = range(1, 6) if SOAK else [8]
"""The seeds; by that of `make test` each part of an installation is killed."""
KILLS = 20 if SOAK else 5
SESSIONS = 7 if SOAK else 2
MAX_SECONDS_BEFORE_A_KILL, MAX_OUTAGE_SECONDS = 5, 1.0
"""Seconds."""
FOLLOWING = ("account", "secrets")
"""Jobs that the product itself has done behind each import."""


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    yield from serve()


@pytest.fixture
def installation(first_start: Server, tmp_path: Path) -> Iterator[Embedded]:
    """What is installed by default, or by docs/production.md, as the database under test says."""
    folder = tmp_path / "installation"
    folder.mkdir()
    for server in stopped_copy(first_start, folder):
        if not settings.ON_SQLITE and shutil.which("redis-server") is None:
            pytest.skip("no redis-server to start and to kill")
        yield Embedded(server) if settings.ON_SQLITE else Distributed(server)


@pytest.mark.parametrize("seed", ROUNDS)
def test_every_job_ends_once_whatever_is_killed_meanwhile(
    installation: Embedded,
    provider: FakeProvider,
    seed: int,
    record_property: Callable[[str, object], None],
) -> None:
    journal = Journal(seed)
    provider.answer = journal.answer
    stands(installation, "prepare")
    with running(installation):
        server = installation.server
        person = Person(
            server.url, server.full_key, journal, seed=seed, sessions=SESSIONS
        )
        person.prepare(provider.base_url, KEY)
        killed = kill_while_working(installation, person, journal, seed)
        person.wait_for_what_follows()
        person.close()
    found = stands(installation)
    summary = told(killed, person, journal, found)
    record_property("summary", f"{installation.name}, seed {seed}: {summary}")
    assert journal.repeated() == []
    jobs_ended_once(person, found)
    sessions_are_whole(person, found)
    assert installation.server.command("verify").endswith("is complete and undamaged.")


def kill_while_working(
    installation: Embedded, person: Person, journal: Journal, seed: int
) -> Counter[str]:
    """Kill parts of an installation at random while a person has jobs done; how many of each."""
    chance = random.Random(seed)
    stop, waiting = threading.Event(), threading.Event()
    killed: Counter[str] = Counter()
    with ThreadPoolExecutor(1) as pool:
        worked = pool.submit(person.work, stop)
        try:
            for _ in range(KILLS):
                seen, more = person.steps + journal.calls, chance.randint(1, 3)
                for _ in range(MAX_SECONDS_BEFORE_A_KILL * 10):
                    if person.steps + journal.calls >= seen + more:
                        break
                    waiting.wait(0.1)
                waiting.wait(chance.uniform(0, 1))
                victim = chance.choice(installation.victims)
                killed[victim] += 1
                start = installation.kill(victim, chance)
                waiting.wait(chance.uniform(0, MAX_OUTAGE_SECONDS))
                start()
        finally:
            stop.set()
        worked.result()
    return killed


def stands(installation: Embedded, *arguments: str) -> Any:
    """What stands in the database of an installation."""
    answer = subprocess.run(
        [sys.executable, "-m", f"{__package__}.standing", *arguments],
        cwd=ROOT,
        env=installation.server.environment(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout) if answer.stdout else None


def jobs_ended_once(person: Person, found: Any) -> None:
    """As many jobs as were asked for, and one end of each."""
    ordered = {order.job: order for order in person.orders}
    assert len(ordered) == len(person.orders)
    others = Counter(job["kind"] for job in found["jobs"] if job["id"] not in ordered)
    imported = sum(
        order.kind == IMPORT and order.status == "done" for order in person.orders
    )
    others.pop("index", None)  # caught up whenever a worker starts
    assert others == Counter(dict.fromkeys(FOLLOWING, imported))
    for job in found["jobs"]:
        if job["kind"] != "index":
            assert job["ends"] == 1, job
        if job["kind"] in FOLLOWING:
            assert job["status"] == "done", job
        if job["id"] in ordered:
            assert job["status"] == ordered[job["id"]].status
            assert job["status"] in ("done", "cancelled"), job


def sessions_are_whole(person: Person, found: Any) -> None:
    """Each session has its messages once, and an operation for each summary that is done."""
    assert found["staged"] == 0
    jobs = {job["id"]: job for job in found["jobs"]}
    sessions = [one for one in found["sessions"] if "order-" in one["name"]]
    for session in sessions:
        assert session["overview_is_right"], session
        assert session["numbers"] == list(range(1, session["head"] + 1))
        originals = [f"m{index}" for index in range(session["messages"])]
        assert session["leaves"] == originals, session
    by_id = {session["id"]: session for session in sessions}
    recorded: dict[str, list[str]] = {}
    for order in person.orders:
        if order.session:
            digests = recorded.setdefault(order.session, [])
            if order.status == "done":
                digests.append(jobs[order.job]["operation"])
        elif order.kind == IMPORT:
            its_own = [
                one["messages"]
                for one in sessions
                if one["name"].startswith(f"{order.name} ")
            ]
            is_done = order.status == "done"
            assert its_own == ([LINES] * FILES if is_done else []), order
            assert found["imports"].count(f"{order.name}.zip") == is_done
    for session_id, digests in recorded.items():
        session = by_id[session_id]
        assert sorted(session["operations"]) == sorted(digests)
        folded = [key for key in session["keys"] if key.startswith("o")]
        assert len(folded) == len(digests)


def told(killed: Counter[str], person: Person, journal: Journal, found: Any) -> str:
    """A line of what happened, for docs/soak.md."""
    ends = Counter(job["status"] for job in found["jobs"])
    figures = {
        "killed": dict(killed),
        "jobs": len(found["jobs"]),
        "ends": dict(ends),
        "interrupted": sum(job["interruptions"] for job in found["jobs"]),
        "asked": sum(order.asked for order in person.orders),
        "paid calls": journal.calls,
        "repeated": len(journal.repeated()),
    }
    return json.dumps(figures)
