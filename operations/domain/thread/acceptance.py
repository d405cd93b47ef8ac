"""Tries out the acceptance of proposals: which of them fit the thread, and why others don't."""

from collections.abc import Sequence
from typing import NamedTuple

from contextstudio.accounts.domain.errors import Conflict
from operations.domain.log.operation import named_keys
from operations.domain.tree.key import Key, entry_key, entry_number, parse_made_key
from operations.domain.tree.status import Report, Status

from .check import conflict_of
from .replay import replay
from .thread import Thread


class Acceptance(NamedTuple):
    """Proposals tried out together, as if their conditions held."""

    fitting: tuple[Key, ...]
    refused: tuple[Conflict, ...]
    """One for each proposal that doesn't fit, with its place, and its key as `operation` in the
    facts."""
    thread: Thread
    """The thread as if all fitting proposals were on."""


def try_acceptance(thread: Thread, operations: Sequence[Key]) -> Acceptance:
    """Find out which proposals fit if all of them are accepted.

    A proposal that is set aside changes nothing, so the result for the others is the same without
    it. Proposals that act on what it would make are refused with it.
    """
    numbers = {
        number for key in operations if (number := entry_number(key)) is not None
    }
    tried = replay(
        thread.leaves, thread.log, thread.active_tags, assume=numbers, known=thread
    )
    refused: dict[Key, Conflict] = {}
    for number in sorted(numbers):  # an edit stands after what it acts on in the log
        report = tried.report(number)
        if report.status is Status.CONFLICT:
            refused[report.key] = conflict_of(tried, report)
        elif missing := _missing(tried, report, refused):
            refused[report.key] = Conflict(
                "It acts on messages of another of these proposals, which can't be accepted.",
                facts={"operations": missing},
            )
    for place, key in enumerate(operations):
        if key in refused:
            refused[key].at = ("operations", place)
            refused[key].facts["operation"] = key
    return Acceptance(
        fitting=tuple(key for key in operations if key not in refused),
        refused=tuple(refused[key] for key in operations if key in refused),
        thread=tried,
    )


def refusal(found: Acceptance) -> Conflict:
    """The refusal of proposals to be accepted together; it names each that can't be.

    Its own facts are those of the first. `fitting` lists the others, which could be accepted.
    """
    first, count = found.refused[0], len(found.fitting) + len(found.refused)
    facts = {**first.facts, "fitting": list(found.fitting)}
    if count == 1:
        return Conflict(first.message, at=first.at, facts=facts)
    named = ", ".join(str(one.facts["operation"]) for one in found.refused)
    return Conflict(
        f"{len(found.refused):,} of {count:,} proposals can't be accepted: {named}.",
        at=first.at,
        facts=facts,
        errors=found.refused,
    )


def _missing(thread: Thread, report: Report, refused: dict[Key, Conflict]) -> list[Key]:
    """The refused proposals whose messages are all that an edit has to act on."""
    if report.status is not Status.VOID:
        return []
    makers = (
        parse_made_key(key) for key in named_keys(thread.log.edits[report.number].edit)
    )
    keys = (entry_key(made[0]) for made in makers if made)
    return [key for key in dict.fromkeys(keys) if key in refused]
