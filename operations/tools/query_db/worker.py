"""A separate process that holds one session's rows and queries them in SQL, one fork per query.

It is run as a script in isolated mode and imports nothing of the product, so a statement can
reach the rows that it was given and nothing else. Each query is answered by a fork with its own
limits: memory, processor time, no new files, no writing. SQLite's own means (the authorizer, its
limits, the progress handler) make refusals clear; the process makes them certain, because some
functions of SQLite never check a clock.

`operations.tools.query_db.sandbox` talks to it in frames: a length and marshalled values on the
way in, a length and JSON on the way out.
"""

import json
import marshal
import os
import resource
import select
import signal
import struct
import sys
import time
from typing import IO, Any

import apsw

MEMORY = 512 << 20
"""Address space of this process and of each of its forks, in bytes."""
HEAP = 384 << 20
"""Memory that SQLite may use, including the rows, in bytes."""
SECONDS = 1.5
"""How many seconds a statement may run before SQLite ends it."""
KILLED_AFTER = 0.4
"""After this many more seconds, a fork that has not ended is killed."""
PROCESSOR_SECONDS = 2
MAX_ROWS = 500
MAX_BYTES = 200_000
"""The maximum size of an answer's values, in bytes of UTF-8."""
MAX_ANSWER_BYTES = 8 << 20
MAX_VALUE_LENGTH = 1 << 20
MAX_STATEMENT_LENGTH = 20_000
STEPS = 2_000
"""How many steps of SQLite's virtual machine run between looks at the clock."""

TABLE = "messages"
COLUMNS = {
    "id": "INTEGER PRIMARY KEY",
    "key": "TEXT",
    "group_id": "INTEGER",
    "role": "TEXT",
    "content": "TEXT",
    "status": "TEXT",
    "parsing_strategy": "TEXT",
    "tool_name": "TEXT",
    "tokens": "INTEGER",
    "tags": "TEXT",
    "created_at": "TEXT",
}
_LIMITS = {
    apsw.SQLITE_LIMIT_SQL_LENGTH: MAX_STATEMENT_LENGTH,
    apsw.SQLITE_LIMIT_COLUMN: 100,
    apsw.SQLITE_LIMIT_EXPR_DEPTH: 100,
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    apsw.SQLITE_LIMIT_VDBE_OP: 20_000,
    apsw.SQLITE_LIMIT_FUNCTION_ARG: 32,
    apsw.SQLITE_LIMIT_ATTACHED: 0,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    apsw.SQLITE_LIMIT_VARIABLE_NUMBER: 1,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_TABLES = frozenset({TABLE, "sqlite_master", "json_each", "json_tree"})
_FUNCTIONS = """
abs avg ceil ceiling char coalesce concat concat_ws count cume_dist current_date current_time
current_timestamp date datetime dense_rank exp first_value floor glob group_concat hex if ifnull
iif instr json json_array json_array_length json_each json_extract json_group_array
json_group_object json_object json_quote json_tree json_type json_valid julianday lag last_value
lead length like likely ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif
octet_length percent_rank pow power quote rank replace round row_number rtrim sign sqrt
sqlite_version strftime string_agg substr substring sum time timediff total trim trunc typeof
unicode unixepoch unlikely upper -> ->>
"""
FUNCTIONS = frozenset(_FUNCTIONS.split())
"""The functions that a statement may call. Functions that make long values from nothing are
excluded."""
_NAMES = {
    apsw.SQLITE_ATTACH: "ATTACH",
    apsw.SQLITE_DETACH: "DETACH",
    apsw.SQLITE_PRAGMA: "PRAGMA",
    apsw.SQLITE_RECURSIVE: "A recursive query",
    apsw.SQLITE_TRANSACTION: "A transaction",
    apsw.SQLITE_SAVEPOINT: "A savepoint",
}


class QueryRefused(Exception):
    """A refused statement: a code for programs, and a sentence for people."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class SqlGuard:
    """Allows or denies each action of a statement; the first refusal is kept."""

    def __init__(self) -> None:
        self.refusal = ""

    def __call__(
        self, action: int, one: str | None, two: str | None, *_: str | None
    ) -> int:
        """SQLite's authorizer; its documentation explains `one` and `two`."""
        if action == apsw.SQLITE_SELECT:
            return apsw.SQLITE_OK
        if action == apsw.SQLITE_READ and (one in _TABLES or not two):
            return apsw.SQLITE_OK
        if action == apsw.SQLITE_FUNCTION and (two or "").lower() in FUNCTIONS:
            return apsw.SQLITE_OK
        self.refusal = self.refusal or _sentence(action, one, two)
        return apsw.SQLITE_DENY


def _sentence(action: int, one: str | None, two: str | None) -> str:
    if action == apsw.SQLITE_FUNCTION:
        return f"The function {two} is not allowed here."
    if action == apsw.SQLITE_READ:
        return f"There is no table {one}; the only table is {TABLE}."
    if action in _NAMES:
        return f"{_NAMES[action]} is not allowed here."
    return "Only SELECT is allowed here: nothing can be written."


def opened() -> apsw.Connection:
    """An empty database with the table created and SQLite's own limits set."""
    apsw.hard_heap_limit(HEAP)
    copy = apsw.Connection(":memory:")
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    copy.execute(f"CREATE TABLE {TABLE}({columns})")
    copy.execute("PRAGMA temp_store=MEMORY")
    copy.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    copy.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    copy.enable_load_extension(False)
    return copy


def close_off(copy: apsw.Connection, longest: int) -> None:
    """Forbid any further writing; `longest` is the length of the longest row in bytes."""
    copy.execute("PRAGMA query_only=1")
    for limit, most in _LIMITS.items():
        copy.limit(limit, most)
    copy.limit(apsw.SQLITE_LIMIT_LENGTH, max(MAX_VALUE_LENGTH, 2 * longest))


def answer(copy: apsw.Connection, sql: str, seconds: float = SECONDS) -> dict[str, Any]:
    """Columns, rows, and whether there were more; or the code and sentence of a refusal."""
    guard, started = SqlGuard(), time.monotonic()
    copy.authorizer = guard
    copy.set_progress_handler(lambda: time.monotonic() - started > seconds, STEPS)
    try:
        return _asked(copy, sql)
    except QueryRefused as refusal:
        return {"code": refusal.code, "sentence": str(refusal)}
    except apsw.AuthError as error:
        return {"code": "not_allowed", "sentence": guard.refusal or str(error)}
    except apsw.InterruptError:
        return {"code": "too_long", "sentence": TOO_LONG}
    except (apsw.NoMemError, apsw.TooBigError, MemoryError):
        return {"code": "too_large", "sentence": TOO_LARGE}
    except apsw.BindingsError:
        return {
            "code": "sql",
            "sentence": "Parameters are not supported: write the values in the statement.",
        }
    except (apsw.Error, ValueError) as error:
        return {"code": "sql", "sentence": f"SQLite: {error}"}


TOO_LONG = "The statement took too long and was ended: a query has two seconds, loading included."
TOO_LARGE = "The statement needed more memory than is allowed."


def _asked(copy: apsw.Connection, sql: str) -> dict[str, Any]:
    if "\0" in sql:
        raise QueryRefused("sql", "A statement can't hold the character NUL.")
    columns: list[str] = []
    statements = 0

    def described(cursor: apsw.Cursor, *_: Any) -> bool:
        nonlocal statements
        statements += 1
        if statements > 1:
            raise QueryRefused(
                "not_allowed", "Only one statement can be run at a time."
            )
        columns.extend(name for name, *_ in cursor.get_description())
        return True

    copy.exec_trace = described
    rows, truncated = _taken(copy.execute(sql, can_cache=False))
    if not columns:
        raise QueryRefused("sql", "The statement is empty.")
    return {"columns": columns, "rows": rows, "truncated": truncated}


def _taken(cursor: apsw.Cursor) -> tuple[list[list[Any]], bool]:
    """The first rows, within the limits of an answer; in a single large row, values may be cut."""
    rows: list[list[Any]] = []
    left = MAX_BYTES
    for row in cursor:
        if len(rows) == MAX_ROWS:
            return rows, True
        values = [_told(value) for value in row]
        size = sum(_size(value) for value in values)
        if size > left:
            if not rows:
                share = left // len(values)
                rows.append([_cut(value, share) for value in values])
            return rows, True
        left -= size
        rows.append(values)
    return rows, False


def _told(value: Any) -> Any:
    """A value for JSON: bytes as hex, infinity as text."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return str(value)
    return value


def _size(value: Any) -> int:
    return len(value.encode()) if isinstance(value, str) else 8


def _cut(value: Any, most: int) -> Any:
    if not isinstance(value, str):
        return value
    return value.encode()[:most].decode("utf-8", "ignore")


def _load(given: IO[bytes], copy: apsw.Connection) -> None:
    """Load rows: frames that are lists of rows, up to an empty one."""
    places = ",".join("?" * len(COLUMNS))
    statement = f"INSERT INTO {TABLE} VALUES({places})"  # only our own names
    longest = 0
    with copy:
        while rows := _read(given):
            longest = max(longest, *(len(row[4].encode()) for row in rows))
            copy.executemany(statement, rows)
    close_off(copy, longest + (64 << 10))


def _in_a_fork(copy: apsw.Connection, sql: str, seconds: float = SECONDS) -> bytes:
    """The answer to a statement as JSON, whatever happens to the fork that computes it."""
    ours, its = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(ours)
        try:
            _limit_fork()
            told = json.dumps(answer(copy, sql, seconds)).encode()
            with open(its, "wb") as pipe:  # noqa: PTH123  # a descriptor
                pipe.write(told)
        finally:
            os._exit(0)
    os.close(its)
    try:
        told = _told_in_time(ours, seconds + KILLED_AFTER)
    finally:
        os.close(ours)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    try:
        json.loads(told)
    except ValueError:
        late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (
            signal.SIGKILL,
            signal.SIGXCPU,
        )
        code, sentence = ("too_long", TOO_LONG) if late else ("too_large", TOO_LARGE)
        return json.dumps({"code": code, "sentence": sentence}).encode()
    return told


def _told_in_time(pipe: int, seconds: float) -> bytes:
    """The output of a fork, until it ends or its time is up."""
    told, until = b"", time.monotonic() + seconds
    while len(told) < MAX_ANSWER_BYTES:
        ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            break
        read = os.read(pipe, 1 << 16)
        if not read:
            break
        told += read
    return told


def _limit_process() -> None:
    """Limit memory, and forbid core files and growing files."""
    _set(resource.RLIMIT_AS, MEMORY)
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, 0)


def _limit_fork() -> None:
    """Limit processor time, and forbid opening files, sockets and processes."""
    os.close(0)
    os.close(1)
    _set(resource.RLIMIT_CPU, PROCESSOR_SECONDS)
    _set(resource.RLIMIT_NOFILE, 0)
    _set(resource.RLIMIT_NPROC, 0)


def _set(limit: int, most: int) -> None:
    try:
        resource.setrlimit(limit, (most, most))
    except (OSError, ValueError):  # limits missing on a system are covered by others
        return


def _read(given: IO[bytes]) -> Any:
    """The value of the next frame; None at the end."""
    head = given.read(4)
    if len(head) < 4:
        return None
    return marshal.loads(given.read(struct.unpack(">I", head)[0]))  # noqa: S302  # our parent's


def _write(taken: IO[bytes], told: bytes) -> None:
    taken.write(struct.pack(">I", len(told)) + told)
    taken.flush()


def main() -> None:
    """Load rows, then answer statements until there are no more."""
    _limit_process()
    given, taken = sys.stdin.buffer, sys.stdout.buffer
    try:
        copy = opened()
        _write(taken, b"{}")
        _load(given, copy)
    except (apsw.NoMemError, MemoryError):
        _write(taken, json.dumps({"code": "too_large"}).encode())
        return
    _write(taken, b"{}")
    while (asked := _read(given)) is not None:
        sql, seconds = asked
        _write(taken, _in_a_fork(copy, sql, min(seconds, SECONDS)))


if __name__ == "__main__":
    main()
