"""Hypothesis strategies: conversations that providers accept, each result after its call."""

from hypothesis import strategies as st

from threads.domain.message import Message, Role
from threads.domain.part import Image, Part, Text, Thinking, ToolCall, ToolResult

from . import strategies as any_

said = st.builds(Text, any_.texts.filter(bool))
pictures = st.builds(Image, any_.media_types, data=st.binary(max_size=20)) | st.builds(
    Image, st.just("image/*"), url=any_.words.map("https://example.org/{}".format)
)
sealed = st.builds(Thinking, any_.texts, data=any_.words)
# A picture drawn by a model comes without its type, which is then determined from its bytes.
drawn = st.builds(
    Image,
    st.just("image/png"),
    data=st.binary(max_size=9).map(b"\x89PNG".__add__),
)
called = st.tuples(any_.words, any_.json_values)
asked = st.builds(
    Message,
    role=st.sampled_from([Role.USER, Role.DEVELOPER, Role.SYSTEM]),
    parts=st.lists(said | pictures, max_size=3).map(tuple),
)


@st.composite
def answers(draw: st.DrawFn) -> list[Message]:
    """An answer of the model and, if it has calls, their results in any order."""
    parts: list[Part] = draw(st.lists(said | sealed | drawn, min_size=1, max_size=3))
    calls = [
        ToolCall(f"call-{draw(st.uuids())}", name, arguments)
        for name, arguments in draw(st.lists(called, max_size=3))
    ]
    content = st.lists(said | pictures, max_size=2).map(tuple)
    results = [ToolResult(call.id, draw(content)) for call in calls]
    return [
        Message(role=Role.ASSISTANT, parts=(*parts, *calls)),
        *(
            Message(role=Role.TOOL, parts=(result,))
            for result in draw(st.permutations(results))
        ),
    ]


conversations = st.lists(asked.map(lambda one: [one]) | answers(), max_size=6).map(
    lambda turns: [message for turn in turns for message in turn]
)
"""Conversations that lose nothing in OpenAI's Responses items."""
