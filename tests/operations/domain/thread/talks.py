"""Hypothesis strategies: sessions that exports and `apply` must treat alike."""

from hypothesis import strategies as st

from tests.operations.domain.forwarding.sending import Conversation
from tests.operations.support.strategies import active_tags, booleans, logs, numbers
from tests.threads.support.strategies import images, texts
from tests.threads.support.strategies import messages as any_messages
from threads.domain.message import Message, Role
from threads.domain.part import Opaque, Text, Thinking, ToolCall, ToolResult

FORMATS = ("openai", "anthropic")


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    """A question, parallel calls, and their results: one by one, or all in one message."""
    name = draw(names)
    ids = [f"c{name}-{k}" for k in range(draw(numbers(0, 3)))]
    calls = [ToolCall(id_, "look", {"at": id_}) for id_ in ids]
    results = [ToolResult(id_, draw(contents), None, draw(booleans)) for id_ in ids]
    said = [Message(role=draw(asking), parts=draw(some_words))]
    said.append(Message(role=Role.ASSISTANT, parts=(*draw(thoughts), *calls)))
    if draw(booleans):
        role = draw(answering)
        said += [Message(role=role, parts=(result,)) for result in results]
    elif results:
        more = draw(some_words)
        said.append(Message(role=Role.USER, parts=(*results, *more)))
    return said


names = st.integers(0, 1 << 30)
asking = st.sampled_from((Role.USER, Role.USER, Role.SYSTEM, Role.DEVELOPER))
answering = st.sampled_from((Role.USER, Role.TOOL))
words = st.builds(Text, st.sampled_from(("", " ", "Yes.", "Look.")) | texts)
some_words = st.lists(words | images, max_size=2).map(tuple)
contents = st.lists(words | images, max_size=2).map(tuple)
thoughts = st.lists(
    st.builds(Thinking, texts, st.none() | st.just("sealed"))
    | st.just(Opaque("unheard_of", {"type": "unheard_of"}))
    | words,
    max_size=2,
)
talks = st.one_of(
    st.lists(turns(), max_size=5).map(
        lambda found: [m for turn in found for m in turn]
    ),
    st.lists(any_messages, max_size=8),
    st.lists(turns() | st.lists(any_messages, max_size=2), max_size=5).map(
        lambda found: [m for turn in found for m in turn]
    ),
)

spoken = talks.filter(bool)


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    found = draw(spoken)
    return Conversation(found, draw(logs(len(found))), draw(active_tags))
