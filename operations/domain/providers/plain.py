"""Messages that every rule of a provider leaves as they are, known without their words.

Of such a message a request needs only the ids of its calls and results: nothing is repaired in it,
nothing reported of it, and it has the tokens that it was recorded with. So its words need not be
read again while its client sends them, wherever else in the request something is done.
"""

from typing import NamedTuple, cast

from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, ToolCall, ToolResult

from .passes.cleaning import is_clean
from .request import Outgoing
from .rules import IDS, NAMES


class Plain(NamedTuple):
    """What is known of a message whose words nobody needs: a user's text, an answer of at most
    one text and calls behind it, or results that are texts."""

    calls: tuple[str, ...]
    """The ids of its calls."""
    results: tuple[str, ...]
    """The ids of the calls that it answers."""
    is_written: bool
    """Whether the arguments of a call may be written in another way than its client writes them:
    forms that hold an object count them anew."""


def plain_of(message: Message) -> Plain | None:
    """What is known of a message as it came in; None where its words are needed."""
    parts = message.parts
    if message.name or not parts:
        return None
    if message.role is Role.ASSISTANT:
        return _answer(parts)
    if message.role not in (Role.USER, Role.TOOL):
        return None
    if isinstance(parts[0], ToolResult):
        return _results(parts)
    is_said = message.role is Role.USER and len(parts) == 1 and _is_text(parts[0])
    return _SAID if is_said else None


_SAID = Plain((), (), False)


def _answer(parts: tuple[Part, ...]) -> Plain | None:
    calls = parts[1:] if isinstance(parts[0], Text) else parts
    if len(calls) < len(parts) and not _is_text(parts[0]):
        return None
    is_written = False
    for part in calls:
        if not (isinstance(part, ToolCall) and _is_sound(part)):
            return None
        is_written = is_written or part.text is not None
    ids = tuple([part.id for part in calls if isinstance(part, ToolCall)])
    return Plain(ids, (), is_written) if ids else _SAID


def _results(parts: tuple[Part, ...]) -> Plain | None:
    for part in parts:
        if not (
            isinstance(part, ToolResult)
            and len(part.content) <= 1
            and all(map(_is_text, part.content))
            and is_clean(part.name)
        ):
            return None
    ids = tuple([part.call_id for part in parts if isinstance(part, ToolResult)])
    return Plain((), ids, False) if all(map(IDS.takes, ids)) else None


def _is_text(part: Part) -> bool:
    return isinstance(part, Text) and bool(part.text.strip()) and is_clean(part.text)


def _is_sound(call: ToolCall) -> bool:
    return (
        isinstance(call.arguments, dict)
        and is_clean(call.arguments)
        and IDS.takes(call.id)
        and NAMES.takes(call.name)
    )


class Unread(Outgoing):
    """A plain original as it goes out, whose words weren't read."""

    __slots__ = ()

    @property
    def plain(self) -> Plain:
        """What is known of it."""
        return cast("Plain", self[_PARTS])

    @property
    def parts(self) -> tuple[Part, ...]:
        """Raises LookupError: who needs words has to read them first."""
        raise LookupError(f"The words of {self.key} were not read.")

    def with_words(
        self, parts: tuple[Part, ...], strategy: str, name: str | None
    ) -> Outgoing:
        """The same message, read."""
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
    def signs(self) -> bool:
        """There is no reasoning in what is plain."""
        return False


_PARTS = Outgoing._fields.index("parts")
