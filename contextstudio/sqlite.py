"""Which SQLite is used, and in which journal mode.

SQLite 3.7.0–3.51.2, but for the backports 3.44.6 and 3.50.7, can lose committed writes in WAL
mode when several connections write (the "WAL-reset" race, fixed in 3.51.3; see the change log
of SQLite). Most systems carry such a version, so pysqlite3's bundled library stands in for
the standard library's module, at one spot and before Django loads. Where the library in use is
affected all the same, the journal mode is TRUNCATE, which costs little.
"""

import importlib
import sys

Version = tuple[int, int, int]

_AFFECTED_FROM: Version = (3, 7, 0)
_FIXED_IN: Version = (3, 51, 3)
_BACKPORTS: frozenset[Version] = frozenset({(3, 44, 6), (3, 50, 7)})

CACHE_KIB = 48 << 10
"""Of pages that a connection keeps: an import's indexes stay in it, where 2 MiB (SQLite's own
measure) would be written out and read again in the midst of a transaction."""
PAGE_BYTES = 16 << 10
"""Of a page, in a database that is made anew; one that is there keeps its own. A body of a few
KiB then lies in one page: with pages of 4 KiB, SQLite's own measure, a commit of an import
takes three times as long, and a small one no less."""
LOG_BYTES = 64 << 20
"""To which the log beside the database is cut when it begins anew: a large import, which writes
without a pause, leaves one of a gigabyte."""
STATEMENTS = 256
"""That a connection keeps ready. Of those that come once all places are taken the driver keeps none
but the last, and a hundred places, its own measure, are taken before an import begins: to parse its
statements again each time was a sixth of what it takes to write a Codex file."""
PRAGMAS = (
    f"PRAGMA page_size={PAGE_BYTES}; "
    "PRAGMA journal_mode={journal_mode}; PRAGMA synchronous=FULL; "
    f"PRAGMA cache_size=-{CACHE_KIB}; PRAGMA temp_store=MEMORY; "
    f"PRAGMA journal_size_limit={LOG_BYTES}; PRAGMA secure_delete=ON;"
)
"""`temp_store`: what a savepoint would have to bring back is kept in memory, not in a file.
`secure_delete`: what was purged would else stay in the file where it was, and in every backup."""


def use_bundled_library() -> None:
    """Put pysqlite3 in the place of `sqlite3`, where it is installed."""
    try:
        bundled = importlib.import_module("pysqlite3")
    except ImportError:
        return
    sys.modules["sqlite3"] = bundled
    sys.modules["sqlite3.dbapi2"] = importlib.import_module("pysqlite3.dbapi2")


def take_values_as_they_are() -> None:
    """Spare the driver its search for who may adapt the plainest values: call it once.

    It knows how to bind them, but looks for an adapter first of all that is no str, int or
    float, in vain, and that takes five times as long as to bind them.
    """
    driver = importlib.import_module("sqlite3")
    for kind in (type(None), bool, bytes, memoryview):
        driver.register_adapter(kind, lambda value: value)


def version_in_use() -> Version:
    major, minor, patch = importlib.import_module("sqlite3").sqlite_version_info
    return major, minor, patch


def journal_mode(version: Version) -> str:
    """`WAL`, or `TRUNCATE` for a version that can lose committed writes in WAL mode."""
    affected = _AFFECTED_FROM <= version < _FIXED_IN and version not in _BACKPORTS
    return "TRUNCATE" if affected else "WAL"


def options(version: Version) -> dict[str, object]:
    """Django's OPTIONS: write locks taken up front, waits of 20 s, commits on disk."""
    return {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "cached_statements": STATEMENTS,
        "init_command": PRAGMAS.format(journal_mode=journal_mode(version)),
    }


def notice(version: Version) -> str | None:
    """The line of the start-up output for a SQLite that is kept out of WAL mode."""
    if journal_mode(version) == "WAL":
        return None
    number = ".".join(map(str, version))
    return (
        f"SQLite {number} can lose committed writes in WAL mode; the journal mode is TRUNCATE. "
        "Python's pysqlite3 package brings a SQLite without this fault."
    )
