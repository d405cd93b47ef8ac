"""Hypothesis strategies: agents' conversations, and whole sessions of them.

Tool rounds as providers produce them (in messages of their own, or among a user's parts), calls
without results, results without calls, duplicate ids, signed reasoning, images with and without
bytes, consecutive messages of a speaker, empty messages; and arbitrary ones. Half of the
conversations are as a provider's own agent has them, so that their signatures are valid.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.strategies import messages as any_messages
from threads.domain import formats
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult

from .pieces import FOUND, IDS, MEDIA, SEARCH, TEXTS, calls, contents, spoken, texts

STRATEGIES = ("openai", "anthropic", "gemini", "deepseek", "mistral", "bedrock")


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages with the strategy under which each was recorded."""

    messages: Sequence[Message]
    strategies: Sequence[str]


def signature(number: int) -> str:
    """A signature unique to the answer with this number."""
    return base64.b64encode(b"seal %d" % number).decode()


@st.composite
def thoughts(draw: st.DrawFn, number: int) -> list[Part]:
    """Reasoning before an answer: none, as text, signed, or readable only by its provider."""
    words = draw(st.sampled_from(TEXTS))
    return draw(
        st.sampled_from(
            (
                [],
                [],
                [Thinking(words)],
                [Thinking(words, signature(number))],
                [
                    Thinking("Hm.", signature(number)),
                    Thinking("", data=signature(number)),
                ],
                [Thinking("", data=signature(number))],
                [Thinking("Hm.", "not base64!")],
            )
        )
    )


@st.composite
def rounds(draw: st.DrawFn, number: int) -> list[Message]:
    """An answer with calls, and messages in the place of their results."""
    asked = draw(st.lists(calls, min_size=1, max_size=3))
    said: list[Part] = [
        *draw(thoughts(number)),
        *draw(st.lists(texts, max_size=1)),
        *asked,
    ]
    if draw(st.integers(0, 4)) == 0:
        said.append(
            draw(texts | thoughts(number).map(lambda own: (own or [Text("x")])[0]))
        )
    answer = Message(role=Role.ASSISTANT, parts=tuple(said))
    ids = [call.id for call in asked]
    match draw(st.integers(0, 7)):
        case 0:
            ids = ids[1:]
        case 1:
            ids.append(draw(st.sampled_from(IDS)))
        case 2:
            ids.reverse()
    results = [
        ToolResult(given, draw(contents), is_error=draw(st.booleans())) for given in ids
    ]
    match draw(st.integers(0, 3)):
        case 0:
            parts: list[Part] = [*results, *draw(spoken)]
            if draw(st.booleans()):
                parts.reverse()
            behind = [Message(role=Role.USER, parts=tuple(parts))]
        case 1:
            behind = [Message(role=Role.TOOL, parts=tuple(results))]
        case _:
            behind = [Message(role=Role.TOOL, parts=(result,)) for result in results]
    return [answer, *behind]


@st.composite
def turns(draw: st.DrawFn, number: int) -> list[Message]:
    """One speaker's message, or a round of tools."""
    match draw(st.integers(0, 9)):
        case 0 | 1 | 2:
            return [Message(role=Role.USER, parts=tuple(draw(spoken)))]
        case 3 | 4:
            said = [*draw(thoughts(number)), *draw(spoken)]
            return [Message(role=Role.ASSISTANT, parts=tuple(said), name="ada l.")]
        case 5:
            role = draw(st.sampled_from((Role.SYSTEM, Role.DEVELOPER)))
            return [Message(role=role, parts=(draw(texts),))]
        case 6:
            return [draw(any_messages)]
        case _:
            return draw(rounds(number))


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """A conversation of up to a dozen messages, mostly with one provider."""
    said: list[Message] = []
    for number in range(draw(st.integers(1, 5))):
        said += draw(turns(number))
    main = draw(st.sampled_from(STRATEGIES))
    other = draw(st.sampled_from((main, main, *STRATEGIES)))
    changed = draw(st.integers(0, len(said)))
    used = [main if place < changed else other for place in range(len(said))]
    return Conversation(said, used)


@st.composite
def recordings(draw: st.DrawFn) -> Conversation:
    """A conversation as one provider's agent has it: signed, in order, all calls answered."""
    said = [Message(role=Role.SYSTEM, parts=(Text("Be brief."),))]
    said = said if draw(st.booleans()) else []
    for number in range(draw(st.integers(1, 4))):
        said.append(Message(role=Role.USER, parts=(Text(f"Question {number}."),)))
        said += draw(answers(number))
    if draw(st.booleans()):
        said.append(Message(role=Role.USER, parts=(Text("And now?"), MEDIA[0])))
    strategy = draw(st.sampled_from(("anthropic", "anthropic", *STRATEGIES)))
    return Conversation(said, [strategy] * len(said))


@st.composite
def answers(draw: st.DrawFn, number: int) -> list[Message]:
    """An agent's work on a question: tool rounds, then text unless it is unfinished."""
    said = []
    thought: tuple[Part, ...] = draw(
        st.sampled_from(
            (
                (),
                (Thinking("Let me see.", signature(number)),),
                (Thinking("", data=signature(number)),),
                (Thinking("Hm.", signature(number)), SEARCH, FOUND),
            )
        )
    )
    for place in range(draw(st.integers(0, 2))):
        ids = [f"toolu_{number}{place}{k}" for k in range(draw(st.integers(1, 2)))]
        asked = [ToolCall(given, "look", {"at": given}) for given in ids]
        found = [ToolResult(given, (Text("nothing"),)) for given in ids]
        said.append(Message(role=Role.ASSISTANT, parts=(*thought, *asked)))
        said.append(Message(role=Role.TOOL, parts=tuple(found)))
    if not said or draw(st.booleans()):
        said.append(Message(role=Role.ASSISTANT, parts=(*thought, Text("There."))))
    return said


@st.composite
def excerpts(draw: st.DrawFn, whole: Sequence[Conversation]) -> Conversation:
    """Up to 20 consecutive messages of one of several conversations."""
    chosen = whole[draw(st.integers(0, len(whole) - 1))]
    start = draw(st.integers(0, len(chosen.messages) - 1))
    part = slice(start, start + draw(st.integers(1, 20)))
    return Conversation(chosen.messages[part], chosen.strategies[part])


def recorded(folder: Path, most_bytes: int = 400_000) -> list[Conversation]:
    """The readable conversations in the small transcripts of a folder."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.stat().st_size > most_bytes:
            continue
        with path.open("rb") as file:
            try:
                transcripts = formats.read(file, name=path.name)
                said = [(list(each.items), each.strategy) for each in transcripts]
            except Invalid:
                continue
        for items, strategy in said:
            messages = [item for item in items if isinstance(item, Message)]
            if messages:
                found.append(Conversation(messages, [strategy] * len(messages)))
    return found
