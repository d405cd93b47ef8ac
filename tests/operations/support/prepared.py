"""Hypothesis strategies: conversations with a log, as the pipeline passes them to a compiler."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from operations.domain.context.assembly import (
    Assembly,
    Plan,
    assemble,
    outgoing_messages,
)
from operations.domain.context.compiling import (
    keys_near,
    left_out_results,
    unanswered,
)
from operations.domain.context.policy import REPLAY, SLOP, Policy
from operations.domain.context.selection import Preference
from operations.domain.context.truncation import Tiers
from operations.domain.log.entry import Entry
from operations.domain.log.log import fold
from operations.domain.providers.request import (
    Draft,
    Layer,
    LeftOutResult,
    answered_call_ids,
)
from operations.domain.providers.signed_places import SignedPlaces
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.leaf import Leaf, MadeMessage
from operations.domain.tree.span import apply_span_changes
from threads.domain.formats.format import Heading
from threads.domain.message import Message, group_ids, starts_group
from threads.domain.part import Part
from threads.domain.tokens import total, words

from .conversations import STRATEGIES, Conversation, conversations, recordings
from .pieces import PICTURE, TOOLS, calls, media, texts
from .reading import Read
from .strategies import active_tags, logs

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A thread of a conversation with a log, and the input for a compiler."""

    conversation: Conversation
    thread: Thread
    assembly: Assembly
    """Counted in characters."""
    draft: Draft

    def for_model(self, model: str) -> Draft:
        """The draft for a model."""
        return replace(self.draft, model=model)


news = st.builds(
    MadeMessage,
    role=st.sampled_from(("system", "user", "assistant")),
    parts=st.lists(texts, min_size=1, max_size=2).map(tuple),
    tokens=st.integers(0, 50),
) | st.builds(
    MadeMessage,
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


def characters(parts: Sequence[Part]) -> int:
    """Count a message in characters."""
    return sum(total(counted, len) for counted in words(parts))


@st.composite
def contexts(
    draw: st.DrawFn, source: st.SearchStrategy[Conversation] | None = None
) -> Context:
    """A conversation with a log, as the pipeline passes it to a compiler."""
    is_calm = source is None and draw(st.booleans())
    if source is None:
        source = recordings() if is_calm else conversations()
    conversation = draw(source)
    count, most = len(conversation.messages), 1 if is_calm else 5
    entries: list[Entry] = draw(logs(count, words=news, most=most))
    plan = Plan(
        count=characters,
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
    """The pipeline's output for a conversation with a log."""
    thread = replay(_leaves(conversation.messages), fold(entries), tags)
    said = outgoing_messages(thread, _words(thread, conversation), characters)
    messages = [one._replace(tokens=characters(one.parts)) for one in said]
    assembly = assemble(thread, messages, plan)
    draft = Draft(
        layers=assembly.layers,
        messages=assembly.messages,
        model="",
        heading=Heading(blob=lambda sha256: PICTURE),
        signed=SignedPlaces.first(assembly.intact),
        tools=tools,
        left_out=_left_out(thread, assembly, conversation),
    )
    return Context(
        conversation=conversation, thread=thread, assembly=assembly, draft=draft
    )


def _leaves(messages: Sequence[Message]) -> list[Leaf]:
    groups = group_ids(starts_group(m.role, m.parts) for m in messages)
    return [
        Leaf(str(message.role), len(message.parts), group)
        for message, group in zip(messages, groups, strict=True)
    ]


def _left_out(
    thread: Thread, assembly: Assembly, conversation: Conversation
) -> dict[str, LeftOutResult]:
    calls = unanswered(assembly.messages)
    answers = {
        key: answered_call_ids(conversation.messages[int(key[1:])].parts)
        for key in keys_near(thread, calls)
    }
    return left_out_results(thread, assembly.steps, calls, answers)


def _words(thread: Thread, conversation: Conversation) -> dict[str, Read]:
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
        parts = apply_span_changes(parts, changes) if changes else parts
        words[shown.key] = Read(parts, strategy, name)
    return words
