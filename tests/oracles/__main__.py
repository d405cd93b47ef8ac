"""Compares others' counts of the samples with ours: `make oracles`.

Prints a line per sample and oracle, and returns 1 if a difference has no written reason, or a
reason no difference. With `--write` it only updates the table in docs/formats.md.
"""

import sys
from itertools import groupby

from .by_rule import RULES
from .comparing import SAMPLES, lines, names, readers_of
from .table import MANIFEST, everything, write


def main() -> int:
    """Returns the exit code: 0 if all counts agree, apart from explained differences."""
    if not SAMPLES.is_dir():
        print("The sample transcripts are not beside the project.")
        return 1
    found = everything()
    if "--write" in sys.argv[1:]:
        write(found)
        return 0
    ours = {name: of.counts for name, of in found.items()}
    wrong = 0
    for (sample, oracle), group in groupby(lines(ours), lambda one: one[:2]):
        compared = list(group)
        wrong += sum(not one.is_right for one in compared)
        said = [
            f"{one.measure} {one.theirs:,}"
            + (f" ({one.ours:,} here)" if one.theirs != one.ours else "")
            + ("" if one.is_right else " ← not explained")
            for one in compared
        ]
        print(f"{sample} | {oracle} | {', '.join(said)}", flush=True)
    uncounted = [
        name
        for name in names()
        if name != MANIFEST and name not in RULES and not readers_of(name)
    ]
    print(f"{wrong} differences without a reason; by nobody else counted: {uncounted}")
    return 1 if wrong or uncounted else 0


if __name__ == "__main__":
    sys.exit(main())
