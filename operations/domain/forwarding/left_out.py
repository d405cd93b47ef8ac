"""Finds what to leave out in addition to what is left out already.

A client that sends only its last messages leaves out more with every request. If each request got
one snip of everything left out, each snip would name all of it again. Instead there are several
snips side by side, and a new one absorbs those before it that are no longer than what it leaves
out by then, as in a binary counter: of n messages left out one by one, each is named by about log
n snips, and about log n snips stand side by side.
"""

from collections.abc import Iterable


def more_left_out(gone: range, known: Iterable[range]) -> range:
    """The run that a new snip must name to leave out all of `gone`; empty if nothing is missing.

    `known` are runs inside it that are already left out; some may lie inside others.
    """
    outermost: list[range] = []
    for run in sorted(known, key=lambda one: (one.start, -one.stop)):
        if not outermost or run.start >= outermost[-1].stop:
            outermost.append(run)
        elif run.stop > outermost[-1].stop:
            return gone  # they overlap
    end = gone.start
    for run in outermost:
        if run.start != end:
            return gone  # there are several gaps, or one that isn't at the end
        end = run.stop
    start = end
    if end < gone.stop:
        while outermost and len(outermost[-1]) <= gone.stop - start:
            start = outermost.pop().start
    return range(start, gone.stop)
