"""Long-lived threads in which what is answered before Django queries the database.

They keep their connections to SQLite, since opening and closing one takes longer than a short
request's queries. Connections to PostgreSQL go back to their pool.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import connection

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
_threads = ThreadPoolExecutor(8, thread_name_prefix="database")
"""A few: requests occupy one only while they query the database, not while something streams."""


def ending(
    function: Callable[Arguments, Result],
) -> Callable[Arguments, Result]:
    """The function for another thread, which fails by a RuntimeError instead of a StopIteration.

    Some Pythons (3.11.7) can't set a StopIteration on a future: who awaits it would wait for ever.
    """

    @wraps(function)
    def run(*values: Arguments.args, **named: Arguments.kwargs) -> Result:
        try:
            return function(*values, **named)
        except StopIteration as error:
            raise RuntimeError("An iterator ended too early.") from error

    return run


async def in_thread(
    function: Callable[Arguments, Result],
    *values: Arguments.args,
    **named: Arguments.kwargs,
) -> Result:
    """Run a function that queries the database, in the context of its caller."""
    context = copy_context()

    def asked() -> Result:
        try:
            return context.run(ending(function), *values, **named)
        finally:
            if connection.vendor == "postgresql" or connection.errors_occurred:
                connection.close()

    return await asyncio.get_running_loop().run_in_executor(_threads, asked)
