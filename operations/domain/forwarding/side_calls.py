"""Decides whether a request belongs to the conversation that it was sent with.

Besides its conversation, a client sends other requests: for a title, to check its quota, for a
sub-agent. They share no message with the conversation, or open with its question under a prompt
of their own. A client that has summed up its conversation may share nothing with it either, but
then it quotes what the model said last, which was the summary. Clients that begin every
conversation with the same notes, and answer these themselves, share the notes with all.
"""

from collections.abc import Iterator, Sequence

from threads.domain.formats.kit.transcripts import typed_parts
from threads.domain.formats.requests import SYSTEM, plain_prompt, system_words
from threads.domain.message import Message, Role
from threads.domain.part import ToolCall

from .alignment import GivenMessages
from .plan import RequestPlan

_LINE = 24
"""Lines of at least this many characters are unlikely to be repeated by chance."""
_QUOTED = 160
"""How many matching characters make a quotation of a reply, if they are also a quarter of it."""


def quotes_reply(messages: Sequence[Message], replies: Sequence[str]) -> bool:
    """Whether a request quotes one of these replies at length."""
    said = "\n".join(one.text for one in messages if one.role is Role.USER)
    for reply in replies:
        lines = [*_lines(reply)]
        quoted = sum(len(line) for line in lines if line in said)
        if quoted >= max(_QUOTED, sum(map(len, lines)) / 4):
            return True
    return False


def is_side_call(
    given: GivenMessages,
    plan: RequestPlan,
    roles: Sequence[str],
    prompts: Sequence[Sequence[Message]],
) -> bool:
    """Whether a request has nothing to do with the session.

    `plan` is the request's plan as part of the session, and `roles` are the roles of the
    session's originals. `prompts` are the system messages at the top of the session, and of what
    its client sent last.
    """
    if all(role in SYSTEM for role in roles):
        return False  # nothing has been said yet
    shared = {given.messages[place].role for place in _known(given, plan, len(roles))}
    shared -= set(SYSTEM)
    if not shared:
        return True
    if shared != {Role.USER}:
        return False
    own = [one for one in given.messages if one.role in SYSTEM]
    words = system_words(own)
    return not any(_are_versions(words, system_words(prompt)) for prompt in prompts)


def holds_reply(given: GivenMessages, plan: RequestPlan, held: int) -> bool:
    """Whether a request contains a reply of the model that the session already had."""
    known = (given.messages[place].role for place in _known(given, plan, held))
    return Role.ASSISTANT in known


def _known(given: GivenMessages, plan: RequestPlan, held: int) -> Iterator[int]:
    """The places of messages after the opening that the session already had."""
    opening = _opening(given.messages)
    for unit in plan.units:
        is_new = any(key in plan.made for key in unit.made)
        if not is_new and unit.first < held:
            yield from range(max(unit.start, opening), unit.end)


def _opening(messages: Sequence[Message]) -> int:
    """How many messages at the top don't tell one conversation from another.

    They are system messages, a client's notes, and the reply that it puts into the model's mouth:
    "Got it."
    """
    roles = (at for at, one in enumerate(messages) if one.role not in SYSTEM)
    first = behind = next(roles, len(messages))
    while behind < len(messages) and _is_note(messages[behind]):
        behind += 1
    if first < behind < len(messages) and _is_remark(messages[behind]):
        behind += 1
    return behind if behind < len(messages) else first


def _is_note(message: Message) -> bool:
    """Whether a user message was written entirely by the client."""
    is_said = message.role is Role.USER and bool(message.parts)
    return is_said and not typed_parts(message.parts)


def _is_remark(message: Message) -> bool:
    is_call = any(isinstance(part, ToolCall) for part in message.parts)
    return message.role is Role.ASSISTANT and not is_call


def _are_versions(some: str, others: str) -> bool:
    """Whether two prompts are versions of one, or too short to tell."""
    one, other = {*_lines(plain_prompt(some))}, {*_lines(plain_prompt(others))}
    if not one or not other:
        return True
    return 3 * len(one & other) >= min(len(one), len(other))


def _lines(text: str) -> Iterator[str]:
    return (line for one in text.splitlines() if len(line := one.strip()) >= _LINE)
