"""The structural digest: summarises a range without a model.

It quotes and counts and never infers: what was asked, which files and commands, what failed,
what was decided. A model or a person writes a better one; this one is available at once, costs
nothing and can't be wrong about what was said.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from archive.domain.tool_use import kind_of, paths_of
from operations.domain.text.left_out import left_out
from threads.domain.message import Role, starts_group
from threads.domain.part import Text, ToolCall, ToolResult

from .retention import error_of
from .said import Utterance

MAX_LINE_LENGTH = 160
"""Most characters quoted from one message."""
MAX_LISTED = 12
"""Most lines in a section, and most names in a line."""
LABEL = "summed up by rule, without a model"


def structural_digest(messages: Sequence[Utterance]) -> str:
    """The digest of at least one message, a few lines of Markdown."""
    lines = [f"{_span(messages[0], messages[-1])}, {LABEL}."]
    lines += _section("Asked", _asked(messages))
    lines += _files(messages)
    lines += _commands(messages)
    lines += _tools(messages)
    lines += _section("Failed", list(_failed(messages)))
    lines += _section("Decided", list(_decided(messages)))
    lines += _last_answer(messages)
    return "\n".join(lines).rstrip()


def _span(first: Utterance, last: Utterance) -> str:
    """`Messages 3 to 40`, or the keys of messages that aren't originals."""
    if first is last:
        return first.name.capitalize()
    if first.key[1:].isdecimal() and last.key[1:].isdecimal():
        return f"Messages {first.key[1:]} to {last.key[1:]}"
    return f"{first.name.capitalize()} to {last.name}"


def _section(title: str, lines: Sequence[str]) -> list[str]:
    """The first lines and the last, with the number of lines left out between them.

    An empty line closes the list: in Markdown, the next line would belong to its last item.
    """
    if not lines:
        return []
    if len(lines) > MAX_LISTED:
        left = len(lines) - MAX_LISTED
        lines = [*lines[: MAX_LISTED - 1], f"… {left} more …", lines[-1]]
    return [f"{title}:", *(f"- {line}" for line in lines), ""]


def _asked(messages: Sequence[Utterance]) -> list[str]:
    return [
        f"{_quoted(message.words)} ({message.name})"
        for message in messages
        if starts_group(message.role, message.parts) and message.words
    ]


def _calls(messages: Sequence[Utterance]) -> Iterator[ToolCall]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                yield part


def _files(messages: Sequence[Utterance]) -> list[str]:
    """The files changed, the files read, and other files that were named, each once."""
    by_kind: dict[str, dict[str, None]] = {"edit": {}, "file_view": {}, "": {}}
    for call in _calls(messages):
        kind = kind_of(call.name, call.arguments)
        place = by_kind[kind if kind in by_kind else ""]
        place.update(dict.fromkeys(paths_of(call)))
    for path in left_out([message.parts for message in messages], "").paths:
        by_kind[""][path] = None
    changed = list(by_kind["edit"])
    viewed = [path for path in by_kind["file_view"] if path not in by_kind["edit"]]
    done = {*changed, *viewed}
    named = [
        path
        for path in by_kind[""]
        if not any(other == path or other.endswith(f"/{path}") for other in done)
    ]
    kinds = (("Changed", changed), ("Read", viewed), ("Files", named))
    return [f"{title}: {_some(paths)}" for title, paths in kinds if paths]


def _commands(messages: Sequence[Utterance]) -> list[str]:
    found = left_out([message.parts for message in messages], "").commands
    return _section("Commands", [f"`{_short(one)}`" for one in found])


def _tools(messages: Sequence[Utterance]) -> list[str]:
    calls = Counter(call.name for call in _calls(messages))
    if not calls:
        return []
    return ["Tools: " + _some([f"{name} ×{n}" for name, n in calls.most_common()])]


def _failed(messages: Sequence[Utterance]) -> Iterator[str]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResult) and (line := error_of(part)):
                yield f"{_quoted(line)} ({message.name})"


_DECIDED = re.compile(
    r"\b(?:decided|decision|chose|chosen|we'll use|we will use|let's use|let us use|"
    r"go(?:ing)? with|settled on|agreed|instead of|rather than)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_SEARCHED = 20_000


def _decided(messages: Sequence[Utterance]) -> Iterator[str]:
    """Sentences of users and assistants that state a decision, each once."""
    seen = set()
    for message in messages:
        if message.role not in (Role.USER, Role.ASSISTANT):
            continue
        for part in message.parts:
            if not isinstance(part, Text):
                continue
            for sentence in _SENTENCE.split(part.text[:_SEARCHED]):
                words = " ".join(sentence.split())
                if _DECIDED.search(words) and words not in seen:
                    seen.add(words)
                    yield f"{_quoted(words)} ({message.name})"


def _last_answer(messages: Sequence[Utterance]) -> list[str]:
    for message in reversed(messages):
        if message.role is Role.ASSISTANT and message.words:
            return [f"Last answer ({message.name}): {_short(message.words)}"]
    return []


def _some(names: Sequence[str]) -> str:
    left = len(names) - MAX_LISTED
    more = f", … {left} more" if left > 0 else ""
    return ", ".join(names[:MAX_LISTED]) + more


_MARKS = re.compile(r"^(?:(?:[-*+>]|#{1,6})\s+)+")


def _quoted(words: str) -> str:
    """The words without what makes them a heading, a quotation or a list of their own."""
    return _short(_MARKS.sub("", words))


def _short(words: str) -> str:
    return (
        words if len(words) <= MAX_LINE_LENGTH else f"{words[: MAX_LINE_LENGTH - 1]}…"
    )
