"""Fixtures for all tests: a database per run, people by role, keys, samples."""

import gc
import os
import uuid
from collections.abc import Generator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import httpx._transports.default
import hypothesis
import pytest
from django.conf import settings
from django.db import connection
from hypothesis.internal.conjecture import providers
from pytest_django import DjangoDbBlocker

from tests.emptying import empty_by_deleting

ROOT = Path(__file__).resolve().parent.parent

# Properties have no deadline: a busy machine would miss it, and bench/ measures times. `make test`
# uses the same examples every time; `make soak` random ones (`--hypothesis-profile=random`).
hypothesis.settings.register_profile(
    "fixed", deadline=None, derandomize=True, max_examples=50
)
hypothesis.settings.register_profile(
    "random", deadline=None, print_blob=True, max_examples=500
)
hypothesis.settings.load_profile("fixed")
# Each httpx client loads the CA certificates, which takes a thirtieth of a second. The tests create
# a thousand clients, none of which leaves this machine: they share one SSL context.
httpx._transports.default.create_ssl_context = cache(httpx.create_ssl_context)

pytest_plugins = ["tests.people", "tests.servers", "tests.browsers", "tests.standing"]

# It imports packages of the extra `meaning`.
collect_ignore = [] if find_spec("wordllama") else ["threads/search/test_meaning.py"]

REACH_A_DATABASE = {
    *("db", "transactional_db", "django_db", "redis", "postgresql"),
    *("first_start", "start_server", "empty_server"),
}
"""Fixtures and marks that use a database; for other tests pytest-django blocks database access."""
OBJECTS_BETWEEN_COLLECTIONS = 10_000
SERVERS = frozenset({"first_start", "start_server"})


class Failures:
    """Prints at once which test fails, and where; the full report comes with the summary."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.failed:
            return
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = f": {str(crash).splitlines()[0]}" if crash else ""
        self._terminal.write_line("")
        self._terminal.write_line(f"FAILED {report.nodeid} ({report.when}){reason}")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Print failures at once, in the process that prints; keep the fixed examples fixed."""
    if config.getoption("hypothesis_profile") != "random":
        # Hypothesis also tries constants of the modules that are loaded by then. Which these are
        # differs from run to run, as workers share out the tests by their speed.
        providers._get_local_constants = lambda: providers._local_constants
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:
        config.pluginmanager.register(Failures(terminal))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Deselect tests for a server that is not under test; the summary counts them.

    Files that start servers take minutes: they run first, so that no worker is left alone with one.
    """
    _mark(config, items)
    yield
    items.sort(key=lambda item: SERVERS.isdisjoint(getattr(item, "fixturenames", ())))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Disable garbage collection while modules and tests are loaded."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exclude from garbage collection what lasts as long as the run.

    Modules and tests are hundreds of thousands of objects, and scanning them again and again takes
    a tenth of the tests' time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 10, 10)


def _mark(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark browser tests, and deselect tests that can't run here.

    Tests that use Chromium are marked before `-m` selects; a `browser` that is Django's own client
    doesn't count. Tests that use no database needn't run on PostgreSQL.
    """
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    absent = {
        name
        for name, present in (
            ("redis", settings.REDIS_URL),
            ("sqlite", settings.ON_SQLITE),
            ("postgresql", not settings.ON_SQLITE),
            ("meaning", find_spec("wordllama")),
        )
        if not present
    }
    kept, left_out = [], []
    for item in items:
        named = {mark.name for mark in item.iter_markers()}
        reaches = REACH_A_DATABASE & {*named, *getattr(item, "fixturenames", ())}
        is_asked = not absent & named and (settings.ON_SQLITE or reaches)
        (kept if is_asked else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have counted, in their property `summary`."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "summary":
                terminalreporter.write_line(f"{report.location[2]}: {value}")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Use a database of this run's own: two concurrent runs would drop each other's.

    Losing it to a power cut does no harm, so commits needn't wait for the disk.
    """
    options = connection.settings_dict["OPTIONS"]
    if connection.vendor == "sqlite":
        folder = tmp_path_factory.mktemp("database")
        connection.settings_dict["TEST"]["NAME"] = str(folder / "test.sqlite3")
        options["init_command"] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
    else:
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", uuid.uuid4().hex)[:8]
        worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
        connection.settings_dict["TEST"]["NAME"] = f"test_contextstudio_{run}_{worker}"
        options["options"] += " -c synchronous_commit=off"


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Generator[None]:
    """The test database; makes sure that it can be dropped.

    A server or thread that a test has ended may still be connected to PostgreSQL, which drops no
    database that is in use.
    """
    with pytest.MonkeyPatch.context() as patch:
        empty_by_deleting(patch)
        yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="session")
def shared_samples() -> Path:
    """The folder of real transcripts beside the project, whether or not it exists."""
    return ROOT.parent / "shared" / "samples"


@pytest.fixture(scope="session")
def samples(shared_samples: Path) -> Path:
    """The folder of real transcripts beside the project; skips the test if it is missing."""
    if not shared_samples.is_dir():
        pytest.skip("the sample transcripts are not beside the project")
    return shared_samples


@pytest.fixture
def redis_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of an outage of the cache or the channel layer; afterwards as before."""
    from contextstudio.web import cache as cache_module
    from threads.store import events

    for server in (cache_module._server, events._server):
        monkeypatch.setattr(server, "_is_away", False)
        monkeypatch.setattr(server, "_silent_until", 0.0)
