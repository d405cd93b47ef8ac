"""Pairs calls and results: each call is followed by its one result (R1), with legal names (R2).

Both being present is not enough: a result must stand directly after its call, and alone. So calls
and results are first matched wherever they stand, and then written out together.

A call and its result are given their id together, so that they match even if a transcript uses an
id twice. A generated id depends only on the call's message: it is the same in the next request,
as a provider's cache requires.
"""

import hashlib
import re
import string
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, pairwise
from typing import NamedTuple

from operations.domain.providers.rules import Alphabet
from operations.domain.providers.turns import Turn, TurnPart
from operations.domain.tree.key import original_index
from threads.domain.message import Role
from threads.domain.part import Text, ToolCall, ToolResult

from . import findings
from .work import Work

LEFT_OUT = "[This result was left out by {by}. recall({key}) brings it back.]"
LEFT_OUT_FOR_GOOD = "[This result of {tokens:,} tokens was left out by {by}.]"
"""For a model that can't recall."""
NEVER = "[No result of this call was recorded.]"
_PAIRED = (ToolCall, ToolResult)
_LETTERS = string.ascii_letters + string.digits
_LENGTH = 9
"""The length of a generated id: required by Mistral, and accepted by every other provider."""
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


class _Spot(NamedTuple):
    """A piece, by the index of its turn and its place in that turn."""

    turn: int
    piece: int


class _Call(NamedTuple):
    spot: _Spot
    part: ToolCall


def pair_results(turns: Sequence[Turn], work: Work) -> list[Turn]:
    """The turns, with every call followed, directly after its turn, by its one result."""
    return list(_Pairing(_joined(turns, work), work).turns())


def _joined(turns: Sequence[Turn], work: Work) -> list[Turn]:
    """Join assistant turns that follow a call with its turn: they are one answer in pieces.

    A turn said after a result that was left out is not joined: it stays after the result's stub.
    """
    joined: list[Turn] = []
    calls: list[str] = []
    for turn in turns:
        if calls and turn.role is Role.ASSISTANT and not _is_later(turn, calls, work):
            is_read = work.rules.merges and not work.rules.calls_apart
            if not (is_read or work.is_next(joined[-1].pieces[-1], turn.pieces[0])):
                work.report(findings.IN_A_ROW, turn.pieces[0])
            joined[-1].pieces += turn.pieces
        else:
            joined.append(turn)
            calls = []
        calls += _calls_of(turn)
    return joined


def _calls_of(turn: Turn) -> list[str]:
    if turn.role is not Role.ASSISTANT:
        return []
    return [piece.part.id for piece in turn.pieces if isinstance(piece.part, ToolCall)]


def _is_later(turn: Turn, calls: Sequence[str], work: Work) -> bool:
    """Whether a turn was said after the result of one of these calls that was left out."""
    left_out = work.draft.left_out
    results = [original_index(left_out[id_].key) for id_ in calls if id_ in left_out]
    index = work.draft.messages[turn.pieces[0].place].index
    return any(index is None or result is None or result < index for result in results)


class _Pairing:
    """Matches the calls and results of one request and assigns their ids."""

    def __init__(self, turns: list[Turn], work: Work) -> None:
        self._turns = turns
        self._work = work
        self._ids: set[str] = set()
        self._answers: dict[_Spot, _Spot] = {}
        self._match()

    def turns(self) -> Iterator[Turn]:
        """Each turn, followed by the results of its calls."""
        for number, turn in enumerate(self._turns):
            if turn.role is Role.TOOL:
                continue
            results = self._results(number, turn)
            yield turn
            if results:
                yield Turn(Role.TOOL, results)

    # Matching

    def _match(self) -> None:
        """Match each result to the nearest open call with its id before it, else after it."""
        waiting: dict[str, list[_Call]] = defaultdict(list)
        early: list[_Spot] = []
        for spot, piece in self._pieces():
            if isinstance(piece.part, ToolCall):
                waiting[piece.part.id].append(_Call(spot, piece.part))
            elif isinstance(piece.part, ToolResult):
                found = _nearest(waiting[piece.part.call_id], piece.part)
                if found is None:
                    early.append(spot)
                else:
                    self._answers[found.spot] = spot
        for spot in early:
            piece = self._turns[spot.turn].pieces[spot.piece]
            part = piece.part
            assert isinstance(part, ToolResult)  # noqa: S101 - for the type checker
            behind = (call for call in waiting[part.call_id] if call.spot > spot)
            found = next((call for call in behind if _fits(call, part)), None)
            if found is None:
                self._work.report_repair(findings.LONE_RESULT, piece)
            else:
                waiting[part.call_id].remove(found)
                self._answers[found.spot] = spot

    def _pieces(self) -> Iterator[tuple[_Spot, TurnPart]]:
        """The calls and results, each with its spot."""
        for number, turn in enumerate(self._turns):
            for place, piece in enumerate(turn.pieces):
                if isinstance(piece.part, _PAIRED):
                    yield _Spot(number, place), piece

    # Writing out

    def _results(self, number: int, turn: Turn) -> list[TurnPart]:
        """The results of a turn's calls, in the order they came in. Also renames the calls."""
        found: list[tuple[_Spot, TurnPart]] = []
        for place, piece in enumerate(turn.pieces):
            if not isinstance(piece.part, ToolCall):
                continue
            call = piece.part
            id_ = self._given_id(call.id, piece, place)
            name = legal_name(call.name, self._work.rules.names)
            if name != call.name:
                self._work.report_repair(findings.NAME, piece)
            if (id_, name) != (call.id, call.name):
                renamed = replace(call, id=id_, name=name)
                turn.pieces[place] = piece._replace(part=renamed)
            spot = self._answers.get(_Spot(number, place))
            if spot is None:
                last = _Spot(len(self._turns), place)
                found.append((last, self._stub(call, id_, name, piece)))
            else:
                found.append((spot, self._answer(spot, number, id_, name)))
        if len(found) > 1:
            found.sort(key=lambda pair: pair[0])
        pieces = [piece for _, piece in found]
        self._report_joined(pieces)
        return pieces

    def _report_joined(self, results: Sequence[TurnPart]) -> None:
        """Report results of one turn's calls that an operation brings together.

        A provider that refuses calls in pieces refuses their results in pieces too.
        """
        for last, piece in pairwise(results if self._work.rules.calls_apart else ()):
            if last.place != piece.place and not self._work.is_next(last, piece):
                self._work.report(findings.IN_A_ROW, piece)

    def _given_id(self, id_: str, piece: TurnPart, nth: int) -> str:
        """The id of the nth call of a message: its own if legal and free, else a new one."""
        if id_ in self._ids or not self._work.rules.ids.allows(id_):
            self._work.report_repair(findings.ID, piece)
            made = (_made_id(f"{piece.key}/{nth}/{id_}/{salt}") for salt in count())
            id_ = next(one for one in made if one not in self._ids)
        self._ids.add(id_)
        return id_

    def _answer(self, spot: _Spot, number: int, id_: str, name: str) -> TurnPart:
        piece = self._turns[spot.turn].pieces[spot.piece]
        if spot.turn != number + 1:
            self._work.report_repair(findings.APART, piece)
            self._work.break_after(self._turns[number].pieces[-1].place)
        part = piece.part
        assert isinstance(part, ToolResult)  # noqa: S101 - for the type checker
        if (id_, name) == (part.call_id, part.name):
            return piece
        renamed = ToolResult(id_, part.content, name, part.is_error)
        return TurnPart(renamed, piece.place, piece.key)

    def _stub(self, call: ToolCall, id_: str, name: str, piece: TurnPart) -> TurnPart:
        self._work.report(findings.UNANSWERED, piece)
        self._work.break_after(piece.place)
        draft = self._work.draft
        left_out = draft.left_out.get(call.id)
        told = LEFT_OUT if draft.can_recall else LEFT_OUT_FOR_GOOD
        words = NEVER if left_out is None else told.format(**left_out._asdict())
        return TurnPart(ToolResult(id_, (Text(words),), name), piece.place, piece.key)


def _nearest(calls: list[_Call], result: ToolResult) -> _Call | None:
    """Remove and return the call that a result answers: the first of the last turn that has one."""
    if len(calls) == 1 and _fits(calls[0], result):
        return calls.pop()
    fitting = [call for call in calls if _fits(call, result)]
    if not fitting:
        return None
    last = fitting[-1].spot.turn
    found = next(call for call in fitting if call.spot.turn == last)
    calls.remove(found)
    return found


def _fits(call: _Call, result: ToolResult) -> bool:
    """Whether a call can belong to a result: without ids, the names must agree."""
    return bool(result.call_id) or result.name in (None, call.part.name)


def legal_name(name: str, names: Alphabet) -> str:
    """The name of a tool as the provider accepts it."""
    if names.allows(name):
        return name
    found = _NOT_IN_NAMES.sub("_", name)[: names.longest]
    return found if names.allows(found) else f"tool_{found}"[: names.longest]


def _made_id(seed: str) -> str:
    number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")
    letters = []
    for _ in range(_LENGTH):
        number, place = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[place])
    return "".join(letters)
