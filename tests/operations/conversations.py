"""Hypothesis strategies: conversations of agents, whole sessions of them, and their contexts.

Rounds of tools as the providers make them (in messages of their own, or among a user's parts),
calls that nobody answers, results that nobody asked for, ids that are taken, sealed reasoning,
images with and without bytes, speakers in a row, empty messages; and messages of anything.
Half of the conversations are as a provider's own agent has them, so that seals hold in them.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.assembly import Assembly, Plan, Spoken, assemble, outgoings
from operations.domain.leaf import Leaf
from operations.domain.log import Entry, fold
from operations.domain.made import New
from operations.domain.outgoing import Layer
from operations.domain.policy import REPLAY, SLOP, Policy
from operations.domain.providers.request import Draft, LeftOut
from operations.domain.replay import replay
from operations.domain.selection import Preference
from operations.domain.span import read_changed
from operations.domain.thread import Thread
from operations.domain.truncation import Tiers
from operations.domain.unanswered import keys_near, left_out_results, unanswered
from tests.threads.strategies import messages as any_messages
from threads.domain import formats
from threads.domain.formats.format import Heading
from threads.domain.group import group_ids, starts_group
from threads.domain.message import Message, Role
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

from .strategies import active_tags, logs

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
    "RU5ErkJggg=="
)
STRATEGIES = ("openai", "anthropic", "gemini", "deepseek", "mistral", "bedrock")
MODELS = {
    "openai": ("gpt-4.1", "gpt-5.2"),
    "openai-responses": ("gpt-4.1", "gpt-5.2"),
    "anthropic": ("claude-sonnet-4-5", "claude-opus-4-8"),
    "gemini": ("gemini-2.5-pro", "gemini-3-pro"),
    "mistral": ("mistral-large-latest",),
    "deepseek": ("deepseek-v4-pro",),
    "bedrock": ("anthropic.claude-opus-4-6-v1",),
    "generic-strict": ("qwen3-32b",),
}
TEXTS = (
    "",
    " ",
    "\n",
    "yes",
    "Look there.",
    "a\0b",
    "half \ud83d",
    "café 😀 \u2028",
    "x" * 60,
)
IDS = (
    *("call_1", "call_2", "call_1|fc_1", "functions.look:0", "toolu_01", "aB3dE6gH9"),
    *("", "c" * 45, "c" * 70, "é", "a b", "\udc00"),
)
NAMES = (
    "look",
    "read_file",
    "mcp__files.read",
    "look up",
    "",
    "n" * 70,
    "9lives",
    "blick_ü",
)
ARGUMENTS: tuple[Any, ...] = (
    *(
        {},
        {"at": "the map"},
        {"a": {"b": [1, None, "x"]}},
        [1],
        "",
        "not json",
        '{"cut',
    ),
    *(None, 3, {"half": "\ud83d"}, {"\udc00": 1}, {"count": float(1 << 60)}),
)
MEDIA: tuple[Part, ...] = (
    Image("image/png", data=PICTURE),
    Image("image/png", sha256="ab" * 32),
    Image("image/gif", data=b"GIF89a" + bytes(8)),
    Image("image/tiff", data=b"II*\0"),
    Image("image/jpeg", url="https://example.org/a.jpg"),
    Image("", url="https://example.org/a"),
    Image("image/png", url="/a.png"),
    Image("image/png", data=b""),
    Image("image/png"),
    File("application/pdf", "report 1.pdf", data=b"%PDF-1.4\n"),
    File("text/plain", "notes", data="Grüße".encode()),
    File("text/plain", None, data=b"\xff\xfe"),
    File("application/zip", "a.zip", data=b"PK"),
    File("application/pdf", url="https://example.org/a.pdf"),
)
BLOCKS: tuple[Part, ...] = (
    Opaque("web_search_tool_result", {"type": "web_search_tool_result", "content": []}),
    Opaque("server_tool_use", {"type": "server_tool_use", "id": "srvtoolu_1"}),
    Opaque(
        "input_audio",
        {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
    ),
    Opaque("compaction", {"type": "compaction", "content": "Earlier."}),
    Opaque("executableCode", {"executableCode": {"code": "1", "language": "PYTHON"}}),
    Opaque("unheard_of", {"type": "unheard_of"}),
    Opaque("odd", 7),
)
SEARCH = Opaque(
    "server_tool_use",
    {
        "type": "server_tool_use",
        "id": "srvtoolu_2",
        "name": "web_search",
        "input": {"query": "key"},
    },
)
FOUND = Opaque(
    "web_search_tool_result",
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_2", "content": []},
)
TOOLS = (
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Looks.",
            "parameters": {
                "type": "object",
                "properties": {"at": {"type": "string"}},
                "additionalProperties": False,
            },
        },
    },
    {"type": "function", "function": {"name": "mcp__files.read", "description": ""}},
)
texts = st.sampled_from(TEXTS).map(Text)
media = st.sampled_from(MEDIA)
spoken = st.lists(texts | texts | media | st.sampled_from(BLOCKS), max_size=3)
calls = st.builds(
    ToolCall, st.sampled_from(IDS), st.sampled_from(NAMES), st.sampled_from(ARGUMENTS)
)
contents = st.lists(texts | media, max_size=2).map(tuple)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages with the strategy that each was recorded under."""

    messages: Sequence[Message]
    strategies: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A thread of a conversation under a log, and what a compiler is given of it."""

    conversation: Conversation
    thread: Thread
    draft: Draft

    def for_model(self, model: str) -> Draft:
        """The draft for a model."""
        return replace(self.draft, model=model)


def seal(number: int) -> str:
    """A signature that only the answer with this number has."""
    return base64.b64encode(b"seal %d" % number).decode()


@st.composite
def thoughts(draw: st.DrawFn, number: int) -> list[Part]:
    """Reasoning before an answer: none, in words, sealed, or readable by its provider alone."""
    words = draw(st.sampled_from(TEXTS))
    return draw(
        st.sampled_from(
            (
                [],
                [],
                [Thinking(words)],
                [Thinking(words, seal(number))],
                [Thinking("Hm.", seal(number)), Thinking("", data=seal(number))],
                [Thinking("", data=seal(number))],
                [Thinking("Hm.", "not base64!")],
            )
        )
    )


@st.composite
def rounds(draw: st.DrawFn, number: int) -> list[Message]:
    """An answer with calls, and what stands for their results."""
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
    """What one speaker says, or a round of tools."""
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
    """A conversation as an agent of one provider has it: sealed, in order, all answered."""
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
    """What an agent does about a question: rounds of tools, then words; or it is at it still."""
    said = []
    thought: tuple[Part, ...] = draw(
        st.sampled_from(
            (
                (),
                (Thinking("Let me see.", seal(number)),),
                (Thinking("", data=seal(number)),),
                (Thinking("Hm.", seal(number)), SEARCH, FOUND),
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
    """Up to 20 messages in a row of one of several conversations."""
    chosen = whole[draw(st.integers(0, len(whole) - 1))]
    start = draw(st.integers(0, len(chosen.messages) - 1))
    part = slice(start, start + draw(st.integers(1, 20)))
    return Conversation(chosen.messages[part], chosen.strategies[part])


def recorded(folder: Path, most_bytes: int = 400_000) -> list[Conversation]:
    """The conversations of the small transcripts in a folder, those that can be read."""
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


news = st.builds(
    New,
    role=st.sampled_from(("system", "user", "assistant")),
    parts=st.lists(texts, min_size=1, max_size=2).map(tuple),
    tokens=st.integers(0, 50),
) | st.builds(
    New,
    role=st.sampled_from(("user", "assistant", "tool")),
    parts=st.lists(texts | calls | media, min_size=1, max_size=2).map(tuple),
    tokens=st.integers(0, 50),
)
policies = st.sampled_from(
    (
        *(REPLAY, REPLAY, SLOP),
        Policy(preset="custom", window=1),
        Policy(preset="custom", markers=True),
        Policy(preset="custom", window=2, isolation=True),
        Policy(
            preset="custom", truncation=Tiers(recent_results=1, recent=3, inactive=0)
        ),
    )
)
preferences = st.sampled_from(
    (
        *(None, None, None),
        Preference(start=2, end=5),
        Preference(max_context_messages=2),
    )
)
layers = st.sampled_from(
    (
        (),
        (),
        (Layer(name="memos", text="Memo: \ud800 look.", tokens=3),),
        (Layer(name="state", text=" ", tokens=0),),
    )
)


@st.composite
def contexts(
    draw: st.DrawFn, source: st.SearchStrategy[Conversation] | None = None
) -> Context:
    """A conversation under a log, as the pipeline hands it to a compiler."""
    is_calm = source is None and draw(st.booleans())
    if source is None:
        source = recordings() if is_calm else conversations()
    conversation = draw(source)
    count, most = len(conversation.messages), 1 if is_calm else 5
    entries: list[Entry] = draw(logs(count, words=news, most=most))
    plan = Plan(
        count=len,
        strategy=draw(st.sampled_from(STRATEGIES)),
        policy=draw(policies),
        preference=draw(preferences),
        layers=() if is_calm else draw(layers),
    )
    tools = TOOLS if draw(st.booleans()) else ()
    return context(conversation, entries, plan, draw(active_tags), tools)


def context(
    conversation: Conversation,
    entries: Sequence[Entry],
    plan: Plan,
    tags: frozenset[str] | None,
    tools: Sequence[dict[str, Any]],
) -> Context:
    """What the pipeline makes of a conversation under a log."""
    thread = replay(_leaves(conversation.messages), fold(entries), tags)
    assembly = assemble(
        thread, outgoings(thread, _words(thread, conversation), len), plan
    )
    draft = Draft(
        layers=assembly.layers,
        messages=assembly.messages,
        model="",
        heading=Heading(blob=lambda sha256: PICTURE),
        sealed=assembly.sealed,
        tools=tools,
        left_out=_left_out(thread, assembly, conversation),
    )
    return Context(conversation=conversation, thread=thread, draft=draft)


def _leaves(messages: Sequence[Message]) -> list[Leaf]:
    groups = group_ids(starts_group(m.role, m.parts) for m in messages)
    return [
        Leaf(str(message.role), len(message.parts), group)
        for message, group in zip(messages, groups, strict=True)
    ]


def _left_out(
    thread: Thread, assembly: Assembly, conversation: Conversation
) -> dict[str, LeftOut]:
    calls = unanswered(assembly.messages)
    words = {
        key: conversation.messages[int(key[1:])].parts
        for key in keys_near(thread, calls)
    }
    return left_out_results(thread, assembly.steps, calls, words)


def _words(thread: Thread, conversation: Conversation) -> dict[str, Spoken]:
    words = {}
    for shown in thread.effective():
        strategy, name = "openai", None
        if shown.index is not None:
            original = conversation.messages[shown.index]
            parts, name = original.parts, original.name
            strategy = conversation.strategies[shown.index]
        else:
            parts = shown.message.parts if shown.message is not None else ()
        changes = thread.spans(shown.key)
        parts = read_changed(parts, changes) if changes else parts
        words[shown.key] = Spoken(parts, strategy, name)
    return words
