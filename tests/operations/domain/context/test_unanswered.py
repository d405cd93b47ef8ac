"""What left out the result of a call, and where it is to be recalled."""

from collections.abc import Iterable

from operations.domain.context.compiling import (
    keys_near,
    left_out_results,
    unanswered,
)
from operations.domain.context.step import Omission, Step
from operations.domain.providers.request import (
    LeftOutResult,
    Outgoing,
    answered_call_ids,
)
from tests.operations.support.builders import originals, snip, thread
from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolCall, ToolResult

CALL = ToolCall("a", "look", {})
RESULT = ToolResult("a", (Text("A"),))


def outgoing(index: int | None, *parts: Part) -> Outgoing:
    key = "o9.0" if index is None else f"m{index}"
    return Outgoing(
        key=key,
        node=key,
        role=Role.ASSISTANT,
        parts=parts,
        tokens=1,
        group=0,
        groups=frozenset((0,)),
        strategy="openai",
        index=index,
    )


def step(name: str, *keys: str) -> Step:
    omissions: Iterable[Omission] = (Omission(key, 1, "why") for key in keys)
    return Step(name=name, before=0, after=0, left_out=tuple(omissions))


def test_calls_without_results_are_found_by_their_originals() -> None:
    messages = [outgoing(1, CALL, ToolCall("b", "look", {})), outgoing(2, RESULT)]
    assert unanswered(messages) == {"b": 1}
    assert unanswered([outgoing(None, CALL)]) == {}


def test_a_result_is_sought_shortly_behind_its_call() -> None:
    found = thread(40)
    assert keys_near(found, {"a": 3})[:2] == ["m4", "m5"]
    assert len(keys_near(found, {"a": 3})) == 16
    assert keys_near(found, {"a": 38, "b": 39}) == ["m39"]


def test_the_fold_that_holds_a_result_left_it_out() -> None:
    found = thread(6, snip(3, 4))
    answers = {"m3": answered_call_ids((RESULT, Text("x"))), "m5": ("z",)}
    assert left_out_results(found, [], {"a": 2}, answers) == {
        "a": LeftOutResult("m3", "o1", found.leaves[3].tokens)
    }


def test_else_it_was_a_step() -> None:
    found = thread(6)
    steps = [step("slice", "m1"), step("window", "m3")]
    assert left_out_results(found, steps, {"a": 2}, {"m3": ("a",)}) == {
        "a": LeftOutResult("m3", "window", found.leaves[3].tokens)
    }
    assert left_out_results(found, [], {"a": 2}, {"m3": ("a",)}) == {}
    assert len(originals(6)) == 6
