"""Whether a request belongs to the conversation that it was sent with.

A client sends other requests beside its conversation: for a title, to see whether it may still
ask, of a sub-agent. They share no message with it, or open with its question under a prompt of
their own. A client that has summed up its conversation may share nothing with it either; but
then it quotes what the model said last, which was the summary. Clients that begin each of their
conversations with the same notes, and answer these themselves, share them with all.
"""

from collections.abc import Iterator, Sequence

from threads.domain.formats.kit.transcripts import typed_parts
from threads.domain.formats.requests import SYSTEM, plain_prompt, system_words
from threads.domain.message import Message, Role
from threads.domain.part import ToolCall

from .alignment import Given
from .plan import RequestPlan

_LINE = 24
"""Characters from which a line is hardly said twice by chance."""
_QUOTED = 160
"""Characters of a reply that are a quotation of it, where they are a quarter of it too."""


def quotes(messages: Sequence[Message], replies: Sequence[str]) -> bool:
    """Whether a request tells at length what one of these replies said."""
    said = "\n".join(one.text for one in messages if one.role is Role.USER)
    for reply in replies:
        lines = [*_lines(reply)]
        quoted = sum(len(line) for line in lines if line in said)
        if quoted >= max(_QUOTED, sum(map(len, lines)) / 4):
            return True
    return False


def is_side(
    given: Given,
    plan: RequestPlan,
    roles: Sequence[str],
    prompts: Sequence[Sequence[Message]],
) -> bool:
    """Whether a request has nothing to do with a session of originals of these roles.

    `plan` is what it would be as the session's own, `prompts` are the system's messages at the
    top: of the session, and of what its client sent last.
    """
    if all(role in SYSTEM for role in roles):
        return False  # nothing was said yet
    shared = {given.messages[place].role for place in _known(given, plan, len(roles))}
    shared -= set(SYSTEM)
    if not shared:
        return True
    if shared != {Role.USER}:
        return False
    own = [one for one in given.messages if one.role in SYSTEM]
    words = system_words(own)
    return not any(_is_alike(words, system_words(prompt)) for prompt in prompts)


def holds_reply(given: Given, plan: RequestPlan, held: int) -> bool:
    """Whether a request holds a reply of the model that the session had before."""
    known = (given.messages[place].role for place in _known(given, plan, held))
    return Role.ASSISTANT in known


def _known(given: Given, plan: RequestPlan, held: int) -> Iterator[int]:
    """The request's messages, behind its opening, that the session had before."""
    opening = _opening(given.messages)
    for unit in plan.units:
        is_new = any(key in plan.made for key in unit.made)
        if not is_new and unit.first < held:
            yield from range(max(unit.start, opening), unit.end)


def _opening(messages: Sequence[Message]) -> int:
    """How many messages at the top say nothing of which conversation it is.

    They are the system's, a client's notes, and what it has the model say to these: "Got it."
    """
    roles = (at for at, one in enumerate(messages) if one.role not in SYSTEM)
    first = behind = next(roles, len(messages))
    while behind < len(messages) and _is_note(messages[behind]):
        behind += 1
    if first < behind < len(messages) and _is_remark(messages[behind]):
        behind += 1
    return behind if behind < len(messages) else first


def _is_note(message: Message) -> bool:
    """Whether it is a user's, and a client wrote all of it."""
    is_said = message.role is Role.USER and bool(message.parts)
    return is_said and not typed_parts(message.parts)


def _is_remark(message: Message) -> bool:
    is_call = any(isinstance(part, ToolCall) for part in message.parts)
    return message.role is Role.ASSISTANT and not is_call


def _is_alike(some: str, others: str) -> bool:
    """Whether two prompts are versions of one, as far as they are long enough to tell."""
    one, other = {*_lines(plain_prompt(some))}, {*_lines(plain_prompt(others))}
    if not one or not other:
        return True
    return 3 * len(one & other) >= min(len(one), len(other))


def _lines(text: str) -> Iterator[str]:
    return (line for one in text.splitlines() if len(line := one.strip()) >= _LINE)
