"""Isolation by strategy: text crosses, calls and results don't."""

from operations.domain.context.selection import isolate
from tests.operations.domain.providers.outgoings import count, keys_of, out, result
from threads.domain.message import Role
from threads.domain.part import Image, Text, Thinking, ToolCall

CALL = ToolCall("c", "look", {})
TALK = [
    out(0, 1, "see", Image("image/png", "0" * 64), strategy="gemini"),
    out(1, 1, Text("I look."), CALL, role=Role.ASSISTANT, strategy="gemini"),
    out(2, 1, result(5), strategy="gemini"),
    out(3, 1, Thinking("hm"), CALL, role=Role.ASSISTANT, strategy="gemini"),
    out(4, 1, Thinking("hm"), role=Role.ASSISTANT, strategy="gemini"),
    out(5, 1, CALL, role=Role.ASSISTANT),
    out(6, 1, result(5)),
]


def test_text_crosses_and_calls_and_results_do_not() -> None:
    kept, step = isolate(TALK, "openai", count)
    assert keys_of(kept) == ["m0", "m1", "m4", "m5", "m6"]
    assert kept[0] is TALK[0]
    assert (kept[1].parts, kept[1].tokens, kept[1].changed) == (
        (Text("I look."),),
        7,
        True,
    )
    assert [(one.key, one.tokens) for one in step.left_out] == [
        *(("m1", 4), ("m2", 5), ("m3", 4)),
    ]
    assert step.left_out[0].why == (
        "Calls and results of gemini are not sent as openai."
    )
    assert step.before - step.after == 13


def test_gemini_and_gemini_gca_read_one_another() -> None:
    assert keys_of(isolate(TALK, "gemini_gca", count)[0]) == [
        "m0",
        "m1",
        "m2",
        "m3",
        "m4",
    ]
