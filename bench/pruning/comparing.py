"""Compares methods of shortening a thread: saved tokens against references lost later.

A run in the middle of a session doesn't know the rest of it. So each method runs over the first
quarter, half and three quarters of the messages, and its losses are references that later messages
use (`bench.pruning.scoring`). Beside each method is what the pruner loses when it stops at the same
savings. `python -m bench.pruning.comparing --write` writes the tables into docs/pruning.md.
"""

import gc
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup()

from archive.domain.pruning.classes import Prunable  # noqa: E402
from archive.domain.pruning.fitting import fit_plan  # noqa: E402
from archive.domain.pruning.harm import NamesLeft  # noqa: E402
from archive.domain.pruning.needs import plan  # noqa: E402
from archive.domain.pruning.reading import ThreadReading  # noqa: E402
from bench.context.replay import Row  # noqa: E402
from bench.processes import ROOT  # noqa: E402
from operations.domain.context.policy import Pruning  # noqa: E402
from operations.domain.context.step import Count  # noqa: E402
from threads import tokens  # noqa: E402
from threads.domain import tokens as counted  # noqa: E402
from threads.domain.part import Part  # noqa: E402

from . import sessions  # noqa: E402
from .methods import (  # noqa: E402
    clear_tool_uses,
    compacted,
    ours,
    planned,
    prunable,
    shown_by,
    tiers,
)
from .peers import Peers, running  # noqa: E402
from .scoring import ENCODING, Method, Score, at_the_end, in_flight  # noqa: E402
from .sessions import ComparedSession  # noqa: E402

PAGE = ROOT / "docs" / "pruning.md"
BEGIN, END = "<!-- methods -->\n", "<!-- end of methods -->"
OURS = "the pruner"
COMPACTION = "the client's own compaction"
PEERS = {
    "LangChain, `ClearToolUsesEdit`": "langchain",
    "headroom, `compress`": "headroom",
    "lcc, `rules:stashed`": "lcc",
}
"""Methods that run in their own environment, by their names in the tables."""
HERE: Mapping[str, Method] = {
    "truncation by tiers": tiers,
    "Anthropic, `clear_tool_uses_20250919`": clear_tool_uses,
    f"{OURS}, `name_used_later` off": ours(Pruning(name_used_later=False)),
    OURS: ours(Pruning()),
}
METHODS = (*list(HERE)[:2], *PEERS, *list(HERE)[2:])
"""The rows of the tables, in order."""
PARTS = (1, 2, 3)
"""Quarters of a session after which a method runs."""
ROUNDS = 5
SECONDS = 0.5
"""The least total time of rounds in lcc: short ones are repeated more often."""
LCC_READS = "Claude Code"
"""The harness whose files `lcc measure-session` can read."""


class ComparedScores(NamedTuple):
    """What a method saves and loses, and what the pruner loses at the same savings."""

    score: Score = Score()
    same: Score = Score()


def rows() -> Iterator[Row]:
    """Each method on the long sessions, then on the others; then lcc against the pruner."""
    with running() as peers:
        methods = _methods(peers)
        for missing in METHODS:
            if missing not in methods:
                yield Row(missing, "not installed", "", None)
        for title, chosen in zip(("long", "other", "made"), _groups(), strict=True):
            if not chosen:
                yield Row(f"{title}: no transcripts beside the project", "", "", None)
                continue
            found = in_sessions(methods, chosen)
            for name, beside in found.items():
                yield _row(f"{title}: {name}", beside, is_ours=name.startswith(OURS))
        if peers is not None:
            for one in sessions.beside_lcc():
                yield from _beside_lcc(peers, one)


def _groups() -> tuple[list[ComparedSession], ...]:
    """The long sessions, the other real ones, and the generated one."""
    others = list(sessions.others())
    real = [one for one in others if one.file]
    return list(sessions.tuned()), real, [one for one in others if not one.file]


def _row(name: str, found: ComparedScores, *, is_ours: bool) -> Row:
    """A method with the references it loses, expected to be at least twice those of the pruner."""
    value = f"{found.score.saved_share:.1%}, {found.score.lost} lost"
    if is_ours:
        return Row(name, value, "", None)
    holds = _is_half(found.same.lost, found.score.lost)
    return Row(name, value, f"≥ 2 × {found.same.lost}", holds)


def _is_half(ours: int, theirs: int) -> bool | None:
    """Whether ours are at most half of theirs; None if neither lost anything."""
    return ours <= theirs / 2 if ours or theirs else None


def in_sessions(
    methods: Mapping[str, Method], chosen: Iterable[ComparedSession]
) -> dict[str, ComparedScores]:
    """Each method, and the pruner at the same savings, run within sessions; summed up."""
    found = dict.fromkeys(methods, ComparedScores())
    for one in chosen:
        for part in PARTS:
            begun = one.messages[: len(one.messages) * part // 4]
            plan = planned(begun, Pruning())
            names = NamesLeft(ThreadReading(prunable(begun)), plan)
            for name, method in methods.items():
                score = in_flight(one.messages, method(begun))
                short = shown_by(begun, fit_plan(plan, score.after, names))
                same = in_flight(one.messages, short)
                before = found[name]
                found[name] = ComparedScores(before.score + score, before.same + same)
    return found


def at_compactions(chosen: Iterable[ComparedSession]) -> ComparedScores:
    """What clients left out by their own compactions, and what the pruner would have left out."""
    found = ComparedScores()
    for one in chosen:
        for compaction in one.compactions:
            begun = one.messages[: compaction.place]
            score = in_flight(one.messages, compacted(one.messages, compaction))
            same = in_flight(one.messages, HERE[OURS](begun))
            found = ComparedScores(found.score + score, found.same + same)
    return found


def _beside_lcc(peers: Peers, one: ComparedSession) -> Iterator[Row]:
    """What lcc and the pruner save, lose and take on a whole session."""
    theirs, our = at_end(peers.method("lcc"), one), at_end(HERE[OURS], one)
    saved = f"{our.saved_share:.1%} / {theirs.saved_share:.1%}"
    yield Row(f"saved / lcc, {one.name}", saved, "≥", our.after <= theirs.after)
    lost, is_half = f"{our.lost} / {theirs.lost}", _is_half(our.lost, theirs.lost)
    yield Row(f"lost / lcc, {one.name}", lost, "≤ 1/2", is_half)
    yield from _times(peers, one)


def _times(peers: Peers, one: ComparedSession) -> Iterator[Row]:
    """The time of a plan against lcc's own measurements.

    These are what `lcc measure-session` times for its mode, which counts what is left as a plan
    does, and, without a bar, lcc's compaction alone. The command reads only Claude Code's files:
    for others the bar applies to the compaction.
    """
    took = _least_timings(peers, one)
    them, named = took.command or took.compaction, f", {one.name}"
    met = took.plan <= them / 2
    yield Row(f"CPU / lcc{named}", _ms(took.plan, them), "≤ 1/2", met)
    alone = f" / lcc's compaction alone{named}"
    yield Row(f"CPU{alone}", _ms(took.plan, took.compaction), "", None)
    by_tiktoken = _ms(took.by_tiktoken, took.compaction)
    yield Row(f"CPU by tiktoken alone{alone}", by_tiktoken, "", None)


def _ms(us: float, them: float) -> str:
    return f"{1000 * us:.3g} / {1000 * them:.3g} ms"


def _as_a_server(parts: Sequence[Part]) -> int:
    return sum(tokens.count_parts(parts, ENCODING))


def _by_tiktoken(parts: Sequence[Part]) -> int:
    """As any process counts its first ten million characters."""
    return sum(counted.total(one, _tiktoken()) for one in counted.words(parts))


@cache
def _tiktoken() -> tokens.TokenCounter:
    return tokens.TokenCounter(tokens._load_tiktoken(ENCODING))


class _Timings(NamedTuple):
    """CPU seconds."""

    plan: float
    by_tiktoken: float
    """A plan that counts with tiktoken."""
    compaction: float
    command: float
    """0.0 if the command can't read the session."""


def _least_timings(peers: Peers, one: ComparedSession) -> _Timings:
    """The least times of several rounds, over messages that are already read and counted."""
    messages = prunable(one.messages)
    tokens.is_accelerated(ENCODING)  # as in a server half a minute after its start
    rounds = list[_Timings]()
    while len(rounds) < ROUNDS or sum(took.compaction for took in rounds) < SECONDS:
        plans = [_planning(messages, by) for by in (_as_a_server, _by_tiktoken)]
        peers.method("lcc")(one.messages)
        compaction, command = peers.seconds, 0.0
        if one.file and one.harness == LCC_READS:
            command = peers.measured_by_lcc(one.file)["cpu"]
        rounds.append(_Timings(*plans, compaction, command))
    return _Timings(*map(min, zip(*rounds, strict=True)))


def _planning(messages: Sequence[Prunable], count: Count) -> float:
    """The CPU seconds of one plan."""
    with _as_the_server_collects():
        begun = time.process_time()
        plan(messages, Pruning(), count)
        return time.process_time() - begun


@contextmanager
def _as_the_server_collects() -> Iterator[None]:
    """Collect garbage as often as `contextstudio/asgi.py` does; lcc runs as its command does."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _methods(peers: Peers | None) -> dict[str, Method]:
    found = dict(HERE)
    if peers is not None:
        found |= {name: peers.method(method) for name, method in PEERS.items()}
    return {name: found[name] for name in METHODS if name in found}


def at_end(method: Method, one: ComparedSession) -> Score:
    """The score of a method over a whole session."""
    return at_the_end(one.messages, method(one.messages))


def tables() -> Iterator[str]:
    """The tables of docs/pruning.md, line by line."""
    long, other, made = _groups()
    with running() as peers:
        methods = _methods(peers)
        yield from _in_flight(methods, (long, other, made))
        yield from _of_compactions(at_compactions([*long, *other]))
        yield from ("", "Over the whole of each long session:", "")
        yield f"| | {' | '.join(one.name for one in long)} |"
        yield f"| --- |{' --- |' * len(long)}"
        for name, method in methods.items():
            scores = [at_end(method, one) for one in long]
            yield f"| {name} | {' | '.join(map(_cell, scores))} |"


def _in_flight(
    methods: Mapping[str, Method], groups: tuple[list[ComparedSession], ...]
) -> Iterator[str]:
    yield f"| | {len(groups[0])} long sessions | {len(groups[1])} others | the made one |"
    yield "| --- | --- | --- | --- |"
    found = [in_sessions(methods, group) for group in groups]
    for name in METHODS:
        if name not in methods:
            yield f"| {name} | not installed | | |"
            continue
        cells = [
            _cell(one[name].score)
            + ("" if name.startswith(OURS) else f"; {one[name].same.lost}")
            for one in found
        ]
        yield f"| {name} | {' | '.join(cells)} |"


def _of_compactions(found: ComparedScores) -> Iterator[str]:
    yield from ("", "Where clients compacted their sessions by themselves:", "")
    yield from ("| | |", "| --- | --- |")
    yield f"| {COMPACTION} | {_cell(found.score)} |"
    yield f"| {OURS}, at the same places | {_cell(found.same)} |"


def _cell(score: Score) -> str:
    lost = f"{score.lost} of {score.references:,}" if score.references else "none"
    return f"{score.saved_share:.1%}, {lost}"


def main() -> None:
    """Print the tables, or write them into the page."""
    text = "".join(f"{line}\n" for line in tables())
    if "--write" not in sys.argv[1:]:
        print(text, end="")
        return
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{text}{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
