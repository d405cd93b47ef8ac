"""Transcripts of what was found in a file: their titles, and the refusal where there are none."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Protocol, TypeVar

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields
from threads.domain.message import Message, Role
from threads.domain.transcript import Transcript, Warning

from . import titles
from .items import Item, Items

TITLE_WITHIN = 50
"""Messages among which a user's first words are looked for, to name a conversation."""


class Conversation(Protocol):
    """A conversation that is read while it is iterated, and what could not be read of it."""

    @property
    def given(self) -> list[Warning]:
        """What was found before it is read."""

    @property
    def warnings(self) -> list[Warning]:
        """Complete once it was iterated to the end."""

    def __iter__(self) -> Iterator[Item]:
        """The items in their order, each time anew."""


Given = TypeVar("Given", bound=Conversation)


def first_messages(items: Iterable[Item]) -> list[Message]:
    """The first messages of a conversation; empty where it has none."""
    found = (item for item in items if isinstance(item, Message))
    return list(islice(found, TITLE_WITHIN))


def title_of(messages: Iterable[Item]) -> str:
    """The first words of a user among these messages, on one line."""
    said = (m for m in messages if isinstance(m, Message) and m.role is Role.USER)
    return titles.of_texts(message.text for message in said)


def transcript_of(
    items: Items, *, title: str = "", **members: Any
) -> Transcript | None:
    """The transcript of items, named by its user's first words where no title is known.

    None where not one message can be read.
    """
    messages = (item for item in items if isinstance(item, Message))
    opening = islice(messages, TITLE_WITHIN)  # no more is read than names it
    first = next(opening, None)
    if first is None:
        return None
    named = fields.one_line(title) or title_of(chain([first], opening))
    return Transcript(title=named, items=items, warnings=items.warnings, **members)


def with_messages(
    found: Iterable[Given],
    skipped: list[Warning],
    make: Callable[[Given, list[Message]], Transcript],
) -> list[Transcript]:
    """A transcript of each conversation that holds messages, made of it and of its first ones.

    `skipped` is what could not be read while they were found. Raises Invalid where none has any.
    """
    made = []
    for items in found:
        if opening := first_messages(items):
            made.append(make(items, opening))
        else:
            skipped.extend(items.warnings)
    return at_least_one(made, skipped)


def at_least_one(
    found: Iterable[Transcript | None], warnings: Sequence[Warning], label: str = ""
) -> list[Transcript]:
    """Those that hold messages. Raises Invalid where none does: see `refusal`."""
    kept = [transcript for transcript in found if transcript is not None]
    if not kept:
        raise refusal(warnings, label)
    return kept


def refusal(warnings: Sequence[Warning], label: str = "") -> Invalid:
    """Why a file without any message is refused: the first thing that broke, or just that."""
    for warning in warnings:
        return Invalid(warning.message, code=warning.code)
    words = f"This is {label}, but it holds" if label else "This file holds"
    return Invalid(f"{words} no messages.", code="no_messages")


def warn_first(found: list[Transcript], skipped: list[Warning]) -> list[Transcript]:
    """The transcripts of a file, the first with what was passed over as its warnings."""
    items: Conversation = found[0].items  # type: ignore[assignment]  # of `Items`, or like it
    items.given.extend(skipped)
    found[0].warnings[:] = skipped
    return found
