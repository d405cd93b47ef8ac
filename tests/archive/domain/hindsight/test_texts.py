"""What of a message is read, and what of it relies on what was said before."""

from archive.domain.hindsight.texts import read_of
from threads.domain.part import Part, Text, Thinking, ToolCall

CALL = ToolCall(id="c1", name="read", arguments={"path": "a.py", "line": 4821})


def test_an_assistant_relies_on_all_that_it_says_and_calls() -> None:
    said = ["I look.", "a.py", "4821"]
    assert read_of("assistant", [Text("I look."), CALL]) == (said, said)


def test_an_assistant_does_not_rely_on_what_it_thinks() -> None:
    parts: list[Part] = [Thinking("Where?"), Text("Here.")]
    assert read_of("assistant", parts) == (["Where?", "Here."], ["Here."])


def test_what_others_say_relies_on_nothing() -> None:
    assert read_of("user", [Text("Look.")]) == (["Look."], [])
