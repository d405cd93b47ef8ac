"""The tokens of a message as its client gave it, in the form of a provider."""

from operations.domain.context.compiling import tokens_unrepaired
from operations.domain.providers.request import Outgoing
from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolCall


def count(parts: list[Part]) -> int:
    return sum(
        len(part.text or str(part.arguments)) if isinstance(part, ToolCall) else 1
        for part in parts
    )


def test_arguments_that_a_form_holds_as_an_object_are_counted_as_one() -> None:
    call = ToolCall("c", "look", {"at": 1}, '{  "at":  1  }')
    message = Outgoing(
        key="m1",
        node="m1",
        role=Role.ASSISTANT,
        parts=(Text("Look."), call),
        tokens=50,
        group=0,
        groups=frozenset({0}),
        strategy="openai",
        index=1,
    )
    assert tokens_unrepaired(message, "openai", count) == 50
    assert tokens_unrepaired(message, "anthropic", count) < 50
