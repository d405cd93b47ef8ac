"""Exports of chat services: a folder with one well-known file of conversations, and others."""

import re
from collections.abc import Callable, Iterator

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.format import Score
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.sample import HEAD, Sample

Gather = Callable[[Folder, str, list[Member]], Gathered]
"""Reads one export: the folder, where in it the export lies (ending in `/`), its files."""


def gather(
    folder: Folder, names: re.Pattern[str], score: Score, one: Gather
) -> list[Gathered]:
    """Each place of the folder that has files so named, of the format that the score knows.

    What can't be read is left alone, so that it is refused by its own name.
    """
    found: list[Gathered] = []
    for root, members in _by_place(folder, names):
        known = [member for member in members if _is_known(member, score)]
        try:
            if known:
                found.append(one(folder, root, known))
        except Invalid:
            continue
    return found


def _by_place(
    folder: Folder, names: re.Pattern[str]
) -> Iterator[tuple[str, list[Member]]]:
    places: dict[str, list[Member]] = {}
    for name, member in folder.members.items():
        place, slash, last = name.rpartition("/")
        if names.fullmatch(last):
            places.setdefault(place + slash, []).append(member)
    yield from places.items()


def _is_known(member: Member, score: Score) -> bool:
    with member.open() as file:
        return score(Sample(file.read(HEAD), member.name)) > 0
