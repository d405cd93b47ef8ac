"""Which SQLite library is used, and in which journal mode.

SQLite 3.7.0–3.51.2, except for the backports 3.44.6 and 3.50.7, can lose committed writes in WAL
mode when several connections write (the "WAL-reset" race, fixed in 3.51.3; see the change log of
SQLite). Most systems ship such a version, so pysqlite3's bundled library replaces the standard
library's module, in one place and before Django loads. If the library in use is affected
nevertheless, the journal mode is TRUNCATE, which costs little.
"""

import importlib
import sys

Version = tuple[int, int, int]

_AFFECTED_FROM: Version = (3, 7, 0)
_FIXED_IN: Version = (3, 51, 3)
_BACKPORTS: frozenset[Version] = frozenset({(3, 44, 6), (3, 50, 7)})

CACHE_KIB = 48 << 10
"""A connection's page cache: it holds an import's indexes, whereas with 2 MiB (SQLite's default)
pages would be written out and read again in the middle of a transaction."""
PAGE_BYTES = 16 << 10
"""The page size of a new database; an existing one keeps its own. A body of a few KiB then fits in
one page: with pages of 4 KiB, SQLite's default, a commit of an import takes three times as long,
and a small one no less."""
LOG_BYTES = 64 << 20
"""The size to which the WAL is cut when it starts over: a large import, which writes without a
pause, leaves a WAL of a gigabyte."""
STATEMENTS = 256
"""How many statements a connection keeps prepared. Once all places are taken, the driver keeps only
the last of further ones, and a hundred, its default, are taken before an import begins: parsing the
import's statements again each time took a sixth of the time of writing a Codex file."""
PRAGMAS = (
    f"PRAGMA page_size={PAGE_BYTES}; "
    "PRAGMA journal_mode={journal_mode}; PRAGMA synchronous=FULL; "
    f"PRAGMA cache_size=-{CACHE_KIB}; PRAGMA temp_store=MEMORY; "
    f"PRAGMA journal_size_limit={LOG_BYTES}; PRAGMA secure_delete=ON;"
)
"""`temp_store`: what a savepoint would have to restore is kept in memory, not in a file.
`secure_delete`: otherwise purged content would stay in the file, and in every backup."""


def use_bundled_library() -> None:
    """Replace `sqlite3` by pysqlite3, if that is installed."""
    try:
        bundled = importlib.import_module("pysqlite3")
    except ImportError:
        return
    sys.modules["sqlite3"] = bundled
    sys.modules["sqlite3.dbapi2"] = importlib.import_module("pysqlite3.dbapi2")


def bind_simple_values_directly() -> None:
    """Spare the driver its search for adapters of the simplest values; call it once.

    It can bind them by itself, but first looks for an adapter for everything but str, int and
    float. That search, always in vain, takes five times as long as binding.
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
    """The line printed at start-up if SQLite can't be used in WAL mode."""
    if journal_mode(version) == "WAL":
        return None
    number = ".".join(map(str, version))
    return (
        f"SQLite {number} can lose committed writes in WAL mode; the journal mode is TRUNCATE. "
        "Python's pysqlite3 package brings a SQLite without this fault."
    )
