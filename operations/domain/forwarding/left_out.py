"""What is to be left out beside what is left out already.

A client that sends only its last messages leaves out more with every request. A snip of all of it
each time would name all of it each time. So there are several, side by side, and a new one takes
in those before it that are no longer than what it leaves out by then, as in a binary counter: of n
messages left out one by one, each is named by about log n snips, and about log n stand side by
side.
"""

from collections.abc import Iterable


def more_left_out(gone: range, known: Iterable[range]) -> range:
    """The run that a new snip names so that all of `gone` is left out; empty where all of it is.

    `known` are runs inside it that are left out already, some of them perhaps inside others.
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
            return gone  # more than one run is missing, or it is not at the end
        end = run.stop
    start = end
    if end < gone.stop:
        while outermost and len(outermost[-1]) <= gone.stop - start:
            start = outermost.pop().start
    return range(start, gone.stop)
