"""Ids of calls and names of tools, as a provider takes them (R2).

A call and its result are given one id together, so that they match also where a transcript
uses an id twice. A made id depends on the call's message alone: it is the same in the next
request, which a provider's cache needs.
"""

import hashlib
import re
import string
from itertools import count

from operations.domain.providers.rules import Alphabet
from operations.domain.providers.turns import Piece

from .findings import ID, NAME
from .work import Work

_LETTERS = string.ascii_letters + string.digits
_LENGTH = 9
"""Of a made id: what Mistral asks for, and every other provider takes."""
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


class Ids:
    """Gives each call of a request its id."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._taken: set[str] = set()

    def given(self, id_: str, piece: Piece, nth: int) -> str:
        """The id of the nth call of a message: its own where that is legal and free."""
        if id_ not in self._taken and self._work.rules.ids.takes(id_):
            self._taken.add(id_)
            return id_
        self._work.repaired(ID, piece)
        for salt in count():
            made = _made(f"{piece.key}/{nth}/{id_}/{salt}")
            if made not in self._taken:
                break
        self._taken.add(made)
        return made


def legal_name(name: str, names: Alphabet) -> str:
    """The name of a tool as a provider takes it."""
    if names.takes(name):
        return name
    found = _NOT_IN_NAMES.sub("_", name)[: names.longest]
    return found if names.takes(found) else f"tool_{found}"[: names.longest]


def given_name(name: str, piece: Piece, work: Work) -> str:
    """As `legal_name`, with what was changed reported."""
    found = legal_name(name, work.rules.names)
    if found != name:
        work.repaired(NAME, piece)
    return found


def _made(seed: str) -> str:
    number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")
    letters = []
    for _ in range(_LENGTH):
        number, place = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[place])
    return "".join(letters)
