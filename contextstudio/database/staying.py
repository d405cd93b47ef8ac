"""Threads that stay, for what is answered before Django: in these the database is asked.

They keep their connections to SQLite, for to open and close one takes longer than a short request
asks it. Connections to PostgreSQL go back to their pool.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import ParamSpec, TypeVar

from django.db import connection

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
_threads = ThreadPoolExecutor(8, thread_name_prefix="database")
"""A few: requests hold one only while they ask the database, not while something streams."""


async def in_thread(
    function: Callable[Arguments, Result],
    *values: Arguments.args,
    **named: Arguments.kwargs,
) -> Result:
    """What a function that asks the database answers, in the context of its caller."""
    context = copy_context()

    def asked() -> Result:
        try:
            return context.run(function, *values, **named)
        finally:
            if connection.vendor == "postgresql" or connection.errors_occurred:
                connection.close()

    return await asyncio.get_running_loop().run_in_executor(_threads, asked)
