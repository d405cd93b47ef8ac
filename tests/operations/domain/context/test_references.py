"""What operations say, for a model that can't recall."""

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.context.assembly import Plan, assemble, outgoing_messages
from operations.domain.context.references import without_references
from operations.domain.log.operation import Condense, Digest
from operations.domain.tree.leaf import MadeMessage
from tests.operations.domain.context.assembled import spoken, thread_of
from tests.operations.domain.providers.outgoings import count
from threads.domain.part import Image, Part, Text, Thinking, ToolCall, ToolResult

REF = "[recall:msg-1a2b3c4d:tool-1]"
IMAGE = Image("image/png", "0" * 64)


def test_references_are_taken_out_wherever_they_stand() -> None:
    parts: tuple[Part, ...] = (
        Text(f"From the archive, {REF}:\n\nAll of it."),
        ToolResult("1", (Text(f"⚡ Ran: ls - exit 0 {REF}\nUsed later: a.py"), IMAGE)),
        ToolCall("1", "Write", {"path": "a", "texts": [f"✏️ Edited a {REF}", 3]}),
    )
    assert without_references(parts) == (
        Text("From the archive:\n\nAll of it."),
        ToolResult("1", (Text("⚡ Ran: ls - exit 0\nUsed later: a.py"), IMAGE)),
        ToolCall("1", "Write", {"path": "a", "texts": ["✏️ Edited a", 3]}),
    )


def test_arguments_as_they_were_written_go_with_the_reference_in_them() -> None:
    written = f'{{"b": "{REF}", "a": 1}}'
    call = ToolCall("1", "Write", {"b": REF, "a": 1}, written)
    assert without_references((call,))[0].text is None  # type: ignore[union-attr]
    kept = ToolCall("1", "Write", {"b": "", "a": 1}, '{"b":"","a":1}')
    assert without_references((kept,))[0].text == kept.text  # type: ignore[union-attr]


def test_what_holds_none_stays_the_same_parts() -> None:
    parts: tuple[Part, ...] = (
        Text("An [odd] text that names recall."),
        Thinking("Hm."),
        ToolCall("1", "ls", "no JSON", "no JSON"),
    )
    assert without_references(parts) is parts


@given(st.lists(st.sampled_from(["a", ", ", "[", "]", "\n", REF, "[recall:"])))
def test_none_is_left_that_is_one(pieces: list[str]) -> None:
    (found,) = without_references((Text("".join(pieces)),))
    assert isinstance(found, Text)
    assert REF not in found.text


def test_only_what_operations_made_loses_them() -> None:
    line = MadeMessage("user", (Text(f"📝 In short {REF}"),), 40)
    plain = MadeMessage("system", (Text("A digest."),), 9)
    thread = thread_of(
        3,
        Condense(targets=("m1",), messages=(line,)),
        Digest(targets=("m2",), messages=(plain,)),
    )
    said = spoken(thread)
    own = next(iter(key for key in said if key == "m3"))
    said[own] = said[own]._replace(parts=(Text(f"Somebody said {REF}."),))
    as_told = outgoing_messages(thread, said, count)
    found = outgoing_messages(thread, said, count, can_recall=False)
    changed = [
        (one.parts, one.tokens)
        for one, other in zip(found, as_told, strict=True)
        if one != other
    ]
    assert changed == [((Text("📝 In short"),), count((Text("📝 In short"),)))]
    made = assemble(thread, found, Plan(count=count, strategy="openai"))
    assert made.steps[0].after == sum(one.tokens for one in found)
