"""Messages that every rule of a provider leaves unchanged, known without their contents.

Of such a message a request needs only the ids of its calls and results: nothing in it is repaired
or reported, and it has the tokens that it was recorded with. So its contents needn't be read
again while its client sends them, whatever is done elsewhere in the request.
"""

from typing import NamedTuple, Self

from operations.domain.tree.key import original_key
from operations.domain.tree.leaf import Leaf
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult, signer_of

from .passes.cleaning import clean_part, is_clean
from .passes.signatures import is_signed
from .request import Outgoing, single_group
from .rules import IDS, NAMES


class PlainMessage(NamedTuple):
    """What is known of a message whose contents nobody needs.

    It is a user's text, an answer (reasoning, at most one text, then calls), or results that are
    texts.
    """

    calls: tuple[str, ...]
    """The ids of its calls."""
    results: tuple[str, ...]
    """The ids of the calls that its results answer."""
    is_written: bool
    """Whether a call's arguments may be written differently from how its client writes them: forms
    that hold an object count them again."""
    signers: frozenset[str] = frozenset()
    """The strategies whose models signed its reasoning. For other strategies reasoning is left
    out, as it is after a change."""


_SAID = PlainMessage((), (), False)


def plain_message(message: Message, strategy: str = "") -> PlainMessage | None:
    """What is known of a message as it came in; None if its contents are needed.

    `strategy` is the one it is recorded with; empty if not known.
    """
    parts = message.parts
    if message.name or not parts:
        return None
    if message.role is Role.ASSISTANT:
        return _answer(parts, strategy)
    if message.role not in (Role.USER, Role.TOOL):
        return None
    if isinstance(parts[0], ToolResult):
        return _results(parts)
    is_said = message.role is Role.USER and len(parts) == 1 and _is_text(parts[0])
    return _SAID if is_said else None


def _answer(parts: tuple[Part, ...], strategy: str) -> PlainMessage | None:
    place, signers = 0, set[str]()
    while place < len(parts) and isinstance(thought := parts[place], Thinking):
        if not (strategy and is_signed(thought) and clean_part(thought) is thought):
            return None
        signers.add(signer_of(thought, strategy))
        place += 1
    if place < len(parts) and isinstance(parts[place], Text):
        if not _is_text(parts[place]):
            return None
        place += 1
    calls = [part for part in parts[place:] if isinstance(part, ToolCall)]
    is_whole = place + len(calls) == len(parts) and all(map(_is_sound, calls))
    if not is_whole or isinstance(parts[-1], Thinking):
        return None
    is_written = any(call.text is not None for call in calls)
    return PlainMessage(
        tuple([call.id for call in calls]), (), is_written, frozenset(signers)
    )


def _results(parts: tuple[Part, ...]) -> PlainMessage | None:
    for part in parts:
        if not (
            isinstance(part, ToolResult)
            and len(part.content) <= 1
            and all(map(_is_text, part.content))
            and is_clean(part.name)
        ):
            return None
    ids = tuple([part.call_id for part in parts if isinstance(part, ToolResult)])
    return PlainMessage((), ids, False) if all(map(IDS.allows, ids)) else None


def _is_text(part: Part) -> bool:
    return isinstance(part, Text) and bool(part.text.strip()) and is_clean(part.text)


def _is_sound(call: ToolCall) -> bool:
    return (
        isinstance(call.arguments, dict)
        and is_clean(call.arguments)
        and IDS.allows(call.id)
        and NAMES.allows(call.name)
    )


_ROLES = {role.value: role for role in Role}
_PARTS = Outgoing._fields.index("parts")


class UnreadMessage(Outgoing):
    """A plain original as it goes out, without its contents being read."""

    __slots__ = ()

    @classmethod
    def of(cls, plain: PlainMessage, index: int, leaf: Leaf) -> Self:
        """The outgoing message of an original that stands at the top of its thread."""
        role, tokens, group = leaf
        key, groups = original_key(index), single_group(group)
        # The `parts` field holds the `PlainMessage`. The strategy is left empty, because it
        # matters only to reasoning and blocks. `tuple.__new__` is used because nothing is faster:
        # there is one of these for every original of a long session.
        members = (key, key, _ROLES[role], plain, tokens, group, groups, "", index)
        return tuple.__new__(cls, (*members, None, False, None))

    @property
    def plain(self) -> PlainMessage:
        """What is known of the message."""
        known: PlainMessage = self[_PARTS]  # type: ignore[assignment]  # in the place of its parts
        return known

    @property
    def parts(self) -> tuple[Part, ...]:
        """Raises LookupError, because the message was not read: see `with_contents`."""
        raise LookupError(f"The words of {self.key} were not read.")

    def with_contents(
        self, parts: tuple[Part, ...], strategy: str, name: str | None
    ) -> Outgoing:
        """The same message with its contents."""
        read = Outgoing(*self)
        return read._replace(parts=parts, strategy=strategy, name=name)

    @property
    def call_ids(self) -> tuple[str, ...]:
        """The ids of its calls."""
        return self.plain.calls

    @property
    def result_ids(self) -> tuple[str, ...]:
        """The ids of the calls that it answers."""
        return self.plain.results

    @property
    def has_reasoning(self) -> bool:
        """Whether the message has any reasoning."""
        return bool(self.plain.signers)
