"""What contexts, ledgers, suggestions and `apply` cost by REST: `python -m bench.context.hook`.

A session of 10,000 messages under 1,000 operations of all kinds, in a server process
(`hook_process`) with all its middleware; a request to `apply` is 8 MB. Each figure is the least CPU
time of several rounds, divided by that of reading and writing the same bytes with orjson, with the
garbage collector set as in a server. "First": nothing is cached in the process. "After a change":
an operation was recorded since. "Goes on": the client sends two more messages.
"""

from collections.abc import Iterator

from bench import processes

from .replay import Row


def rows() -> Iterator[Row]:
    """A row for each request, in milliseconds of CPU time and as a ratio."""
    found = processes.figures("bench.context.hook_process")
    orjson = found.pop("orjson")
    for name, seconds in found.items():
        figure = f"{seconds / orjson:.1f} x ({1000 * seconds:.0f} ms)"
        yield Row(f"{name} / orjson", figure, "", None)


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:52} {row.value:>20}", flush=True)
