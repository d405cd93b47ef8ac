"""Makes transcripts from what was found in a file: their titles, and the refusal if there are none.

A conversation without a name is titled by the first words that a person typed. Tools write much of
their own text into a person's messages, and wrap what was typed. Neither becomes a title; a typed
command does, if there are no words.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, TypeVar

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields
from threads.domain.message import Message, Role
from threads.domain.part import Opaque, Part, Text
from threads.domain.transcript import Transcript, Warning

from .items import Conversation, Item, Items

TITLE_WITHIN = 50
"""How many messages are searched for a user's first words, to title a conversation."""
MACHINE_TEXT = re.compile(
    r"\s*(<(command-|local-command-|bash-|task-notification|system-reminder|user-prompt-"
    r"|user_info>|git-context>|environment_context>|session_context>|user_instructions>)"
    r"|# AGENTS\.md instructions|Caveat: |\[Request interrupted"
    r"|--- CONTEXT ENTRY BEGIN ---"
    r"|This is the (Qwen Code|Gemini CLI)\. We are setting up the context|$)"
)
"""How texts begin that are in a user's message but not typed: they make no title."""
_WRAPPED = re.compile(r"\s*<(user_query|user_request|task|feedback)>\s*", re.IGNORECASE)
"""The elements in which Cursor, Antigravity and Cline wrap typed text."""
_SKILL = re.compile(r"\s*<skill name=\"([^\"\n]{1,80})\"[^>\n]{0,400}>")
"""How pi begins the text of a requested skill; the typed text follows its end."""
_ADDED = re.compile(r"\A\s*<(current_datetime)>[^<\n]{0,100}</\1>\s*")
"""The element that Copilot puts before typed text."""
_OURS = re.compile(
    r"\A\s*(?:<summary>\nA record of earlier messages of this conversation\..*?\n</summary>"
    r"|\[The conversation so far follows\.\])\s*",
    re.DOTALL,
)
"""How a request made by ContextStudio begins if it leaves out earlier messages."""
_HEADING = re.compile(r"\A\s*#{1,6}[ \t]+(?=\S)")
_BARE_COMMAND = re.compile(r"\s*(/[\w:-]{1,80})\s*")
_COMMAND = re.compile(r"<command-name>([^<]*+)</command-name>")
_ARGUMENTS = re.compile(r"<command-args>([^<]*+)</command-args>")
_MAX_COMMAND_LENGTH, _MAX_ARGUMENTS_LENGTH = 80, 400


Given = TypeVar("Given", bound=Conversation)


def first_messages(items: Iterable[Item]) -> list[Message]:
    """The first messages of a conversation; empty if it has none."""
    found = (item for item in items if isinstance(item, Message))
    return list(islice(found, TITLE_WITHIN))


def title_of(messages: Iterable[Item]) -> str:
    """A title from the first words of a user among these messages, on one line."""
    said = (m for m in messages if isinstance(m, Message) and m.role is Role.USER)
    return title_of_texts(map(_typed, said))


def _typed(message: Message) -> str:
    """A user message's text without parts that were not typed, unless nothing else is left."""
    typed = typed_parts(message.parts)
    texts = [part.text for part in typed if isinstance(part, Text)]
    return "\n\n".join(texts) or message.text


def typed_parts(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts of a user message that the user gave, without a tool's own texts and blocks."""
    return tuple(
        replace(part, text=typed_in(part.text)) if isinstance(part, Text) else part
        for part in parts
        if not isinstance(part, Opaque)
        and not (isinstance(part, Text) and MACHINE_TEXT.match(part.text))
    )


def title_of_texts(texts: Iterable[str]) -> str:
    """The title from a user's texts, on one line; empty if there is none."""
    fallback = ""
    for text in (_OURS.sub("", one) for one in texts):
        if MACHINE_TEXT.match(text):
            fallback = fallback or command_in(text)
        elif bare := _BARE_COMMAND.fullmatch(text):
            fallback = fallback or bare[1]
        else:
            return fields.one_line(typed_in(text))
    return fallback


def typed_in(text: str) -> str:
    """The typed text, without the elements that a tool put around and before it.

    Heading marks at its start are left out too.
    """
    return _HEADING.sub("", _unwrapped(_ADDED.sub("", text)))


def _unwrapped(text: str) -> str:
    if skill := _SKILL.match(text):
        return text.partition("</skill>")[2].strip() or f"/{skill[1]}"
    opened = _WRAPPED.match(text)
    if opened is None:
        return text
    inner, end, _ = text[opened.end() :].partition(f"</{opened[1]}>")
    return inner if end else text


def command_in(text: str) -> str:
    """The typed command that a text of Claude Code's records, with its arguments."""
    name = _element(_COMMAND, text, _MAX_COMMAND_LENGTH)
    if not name or "\n" in name:
        return ""
    arguments = _element(_ARGUMENTS, text, _MAX_ARGUMENTS_LENGTH)
    return fields.one_line(f"{name} {arguments}")


def _element(pattern: re.Pattern[str], text: str, most: int) -> str:
    """The content of an element in a text; empty if there is none, or it is too long."""
    found = pattern.search(text)
    words = found[1].strip() if found else ""
    return words if len(words) <= most else ""


def transcript_of(
    items: Items, *, title: str = "", **members: Any
) -> Transcript | None:
    """The transcript of items, titled by the user's first words if no title is known.

    Returns None if no message can be read.
    """
    messages = (item for item in items if isinstance(item, Message))
    opening = islice(messages, TITLE_WITHIN)  # reads no more than the title needs
    first = next(opening, None)
    if first is None:
        return None
    named = fields.one_line(title) or title_of(chain([first], opening))
    return Transcript(title=named, items=items, warnings=items.warnings, **members)


def transcripts_with_messages(
    found: Iterable[Given],
    skipped: list[Warning],
    make: Callable[[Given, list[Message]], Transcript],
) -> list[Transcript]:
    """A transcript for each conversation with messages, made from it and its first messages.

    `skipped` are the warnings from finding the conversations. Raises Invalid if none has messages.
    """
    made = []
    for items in found:
        if opening := first_messages(items):
            made.append(make(items, opening))
        else:
            skipped.extend(items.warnings)
    return require_transcripts(made, skipped)


def require_transcripts(
    found: Iterable[Transcript | None], warnings: Sequence[Warning], label: str = ""
) -> list[Transcript]:
    """The transcripts that hold messages. Raises Invalid if none does: see `refusal`."""
    kept = [transcript for transcript in found if transcript is not None]
    if not kept:
        raise refusal(warnings, label)
    return kept


OTHER_RECORDS = "other_records"
"""The code of the warning that most records of a file are not messages, but kept as events."""


def refusal(warnings: Sequence[Warning], label: str = "") -> Invalid:
    """The refusal of a file without messages: the first warning, or that there are none.

    The warning about other records is skipped, because it only applies if something is kept.
    """
    for warning in warnings:
        if warning.code != OTHER_RECORDS:
            return Invalid(warning.message, code=warning.code)
    words = f"This is {label}, but it holds" if label else "This file holds"
    return Invalid(f"{words} no messages.", code="no_messages")


def with_skipped_warnings(
    found: list[Transcript], skipped: list[Warning]
) -> list[Transcript]:
    """The transcripts of a file, with the warnings about skipped parts given to the first."""
    items: Conversation = found[0].items  # type: ignore[assignment]  # as all are
    items.given.extend(skipped)
    found[0].warnings[:] = skipped
    return found
