"""Matches results with calls if a client gives calls its own ids.

Gemini's calls need no id. If a reply brought none, the session gives the call one id and the
client (such as Gemini CLI) another, and the next result names the client's. The result is
recorded under the session's id; otherwise it would belong to no call.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from threads.domain.message import Message
from threads.domain.part import Part, ToolCall, ToolResult

from .alignment import GivenMessages, HeldSession, Unit, UnitCounts, is_known
from .plan import RequestPlan


def with_held_ids(
    given: GivenMessages, held: HeldSession, units: Sequence[Unit]
) -> GivenMessages:
    """The client's messages, with results naming calls by the ids that the session holds.

    `units` are in the order of both sides; messages inside units are left unchanged.
    """
    unheld = _places_behind(units, len(given.messages))
    wanted = {
        part.call_id
        for place in unheld
        for part in given.messages[place].parts
        if isinstance(part, ToolResult)
    }
    ids = _ids(given, held, units, wanted) if wanted else {}
    if not ids:
        return given
    messages = list(given.messages)
    for place in unheld:
        messages[place] = _renamed(messages[place], ids)
    return given._replace(messages=messages)


def with_renamed_results(
    plan: RequestPlan, own: GivenMessages, named: GivenMessages, skipped: int = 0
) -> RequestPlan:
    """The plan of a request, adjusted for results that `with_held_ids` renamed.

    When compiled, calls go out under the ids that the session gave them, so renamed results must
    be compiled too instead of going out as their client gave them. `own` begins after `skipped`
    messages.
    """
    if named is own:
        return plan
    pairs = zip(own.messages, named.messages, strict=True)
    renamed = {
        place
        for place, (ours, theirs) in enumerate(pairs, start=skipped)
        if theirs is not ours and theirs != ours
    }
    units = [
        unit
        if renamed.isdisjoint(range(unit.start, unit.end))
        else unit._replace(as_given=False)
        for unit in plan.units
    ]
    return replace(plan, units=units, counts=UnitCounts().extended(units))


def _places_behind(units: Sequence[Unit], count: int) -> list[int]:
    """The places of messages that are in no unit."""
    held = {place for unit in units for place in range(unit.start, unit.end)}
    return [place for place in range(count) if place not in held]


def _ids(
    given: GivenMessages, held: HeldSession, units: Sequence[Unit], wanted: set[str]
) -> Mapping[str, str]:
    """Map the client's ids of calls to the session's ids, where the two differ."""
    found: dict[str, str] = {}
    for unit in reversed(units):
        calls = list(_calls(given.messages[unit.start : unit.end]))
        if not wanted.intersection(calls):
            continue
        wanted.difference_update(calls)
        if not is_known(given.digest(unit.start), held.digests[unit.first]):
            rows = range(unit.first, unit.last)
            held_calls = list(_calls(held.readings(index)[0] for index in rows))
            pairs = zip(calls, held_calls, strict=False)
            found |= {own: named for own, named in pairs if own != named}
        if not wanted:
            break
    return found


def _calls(messages: Sequence[Message] | Iterator[Message]) -> Iterator[str]:
    parts = chain.from_iterable(message.parts for message in messages)
    return (part.id for part in parts if isinstance(part, ToolCall))


def _renamed(message: Message, ids: Mapping[str, str]) -> Message:
    def part_of(part: Part) -> Part:
        if isinstance(part, ToolResult) and part.call_id in ids:
            return replace(part, call_id=ids[part.call_id])
        return part

    return replace(message, parts=tuple(map(part_of, message.parts)))
