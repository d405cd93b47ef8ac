"""Compiles contexts of one seed for every provider; prints one line of JSON.

Runs in a process of its own: `python -m bench.context.compiling_process SEED COUNT`.
"""

import json
import sys

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.operations.support.compiled import Tally
from tests.operations.support.prepared import Context, contexts


def tally_of(number: int, count: int) -> dict[str, object]:
    """How many contexts of a seed were compiled and refused, and the first failure."""
    tally = Tally()

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(contexts())
    def each(context: Context) -> None:
        tally.add(context)

    failed = ""
    try:
        each()
    except Exception as error:  # noqa: BLE001  # whatever it is, the seed has to be known
        failed = f"{type(error).__name__}: {error}".splitlines()[0]
    return {
        "seed": number,
        "examples": tally.examples,
        "refused": dict(tally.refused),
        "failed": failed,
    }


if __name__ == "__main__":
    print(json.dumps(tally_of(int(sys.argv[1]), int(sys.argv[2]))), flush=True)
