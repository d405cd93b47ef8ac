"""Which of its originals a client still sends, wherever they stand."""

from dataclasses import dataclass, replace

import pytest

from operations.domain.forwarding.alignment import (
    GivenMessages,
    Unit,
    align_from_start,
)
from operations.domain.forwarding.finding import find_repeated, find_units
from tests.operations.support.builders import digest as digest_of_range
from threads.domain.body import digest, tombstone_of
from threads.domain.formats import REQUESTS
from threads.domain.formats.format import Heading
from threads.domain.formats.requests import system_words
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult

from .talk import FORM, HeldMessages, begun, says


def test_what_was_not_compared_is_not_known():
    """Of a long gap both ends are looked at: what joins them says nothing of what lies between."""
    words = [f"u{n} {'and so on ' * 8}" for n in range(100)]
    held = HeldMessages([says(text) for text in words])

    def known(*parts: str) -> list[Unit]:
        message = Message(role=Role.USER, parts=tuple(map(Text, parts)))
        sent = GivenMessages([message], lambda _: digest(message.role, message.parts))
        return find_units(sent, held, FORM, Heading())

    (unit,) = known(words[32], words[33])
    assert (unit.first, unit.last) == (32, 34)
    assert known(words[33], words[66]) == []


def test_another_prompt_beside_the_messages_is_none_of_those_that_are_held():
    """It stands for all that the system says, so it is not looked for among them."""
    held = HeldMessages([says("s"), says("s2"), says("u0")])
    prompt = Message(role=Role.SYSTEM, parts=(Text(f"{says('s2').text}\n"),))
    messages = [prompt, says("u0")]
    sent = GivenMessages(
        messages,
        lambda place: digest(messages[place].role, messages[place].parts),
        system=True,
    )
    (unit,) = find_units(sent, held, REQUESTS["anthropic"], Heading())
    assert (unit.start, unit.first, unit.last) == (1, 2, 3)


def test_a_purged_message_is_known_by_its_tombstone() -> None:
    @dataclass
    class Purged(HeldMessages):
        @property
        def digests(self) -> list[bytes]:
            found = super().digests
            return [*found[:2], tombstone_of(found[2])]

    held = [says("u1"), says("a1"), says("u2")]
    messages = [held[0], says("a7"), held[2]]
    sent = GivenMessages(
        messages, lambda place: digest(messages[place].role, messages[place].parts)
    )
    found = find_units(sent, Purged(held), FORM, Heading())
    assert [(unit.first, unit.start) for unit in found] == [(0, 0), (2, 2)]


@dataclass
class PurgedTurn(HeldMessages):
    """A session of which the turn from the third to the sixth message was purged."""

    @property
    def digests(self) -> list[bytes]:
        found = super().digests
        return [*found[:2], *map(tombstone_of, found[2:6]), *found[6:]]

    def readings(self, index: int) -> list[Message]:
        (found,) = super().readings(index)
        return [replace(found, parts=())] if 2 <= index < 6 else [found]


CALL = ToolCall("call_1", "look", {})
TURN = [
    Message(role=Role.ASSISTANT, parts=(*says("a3").parts, CALL)),
    Message(role=Role.TOOL, parts=(ToolResult("call_1", (Text("ok"),)),)),
    says("a5"),
]
BEFORE, BEHIND = [says("u0"), says("a1"), says("u2")], [says("u6"), says("a7")]
DIVIDED = [
    says("a3"),
    Message(role=Role.ASSISTANT, parts=(CALL,)),
    Message(role=Role.USER, parts=(ToolResult("look", (Text("ok"),)),)),
    TURN[2],
]
"""The same with the call as an item of its own, and a result that isn't recognised."""


def spans(units: list[Unit]) -> list[tuple[int, int, int, int]]:
    return [(one.first, one.last, one.start, one.end) for one in units]


def given(*messages: Message) -> GivenMessages:
    said = [digest(one.role, one.parts) for one in messages]
    return GivenMessages(messages, said.__getitem__)


@pytest.mark.parametrize("format", REQUESTS)
def test_a_purged_answer_is_known_in_another_form(format: str) -> None:
    """Or what was destroyed would be recorded anew, as words that the client put in."""
    form = REQUESTS[format]
    held = PurgedTurn([*BEFORE, *TURN, *BEHIND])
    sent = given(*BEFORE, *DIVIDED, *BEHIND)
    found = find_units(sent, held, form, Heading())
    assert spans(found)[3:] == [(3, 5, 3, 6), (5, 6, 6, 7), (6, 7, 7, 8), (7, 8, 8, 9)]
    last, count = align_from_start(sent, held, form, Heading(), is_last=True)
    assert count == 9
    assert spans(last)[3:] == [(3, 6, 3, 7), (6, 7, 7, 8), (7, 8, 8, 9)]


def test_only_what_answers_a_purged_question_is_taken_for_a_purged_answer() -> None:
    held = PurgedTurn([*BEFORE, *TURN, says("a8"), *BEHIND])
    anew = given(*BEFORE, says("a8"), *BEHIND)
    found = find_units(anew, held, FORM, Heading())
    assert spans(found)[3:] == [(6, 7, 3, 4), (7, 8, 4, 5), (8, 9, 5, 6)]
    other = given(*BEFORE[:2], says("u9"), *DIVIDED)
    found = find_units(other, held, FORM, Heading())
    assert spans(found) == [(0, 1, 0, 1), (1, 2, 1, 2), (5, 6, 6, 7)]
    stopped = given(*BEFORE, *DIVIDED[:2], *BEHIND)
    found = find_units(stopped, held, FORM, Heading())
    assert (3, 4, 3, 5) in spans(found)
    held = PurgedTurn([*BEFORE, *TURN, *BEHIND])
    short = given(*BEFORE, TURN[2], *BEHIND)
    last, _ = align_from_start(short, held, FORM, Heading(), is_last=True)
    left_out = [(3, 4, 3, 3), (4, 5, 3, 3)]
    assert spans(last)[3:] == [*left_out, (5, 6, 3, 4), (6, 7, 4, 5), (7, 8, 5, 6)]


def test_of_two_answers_that_say_the_same_the_last_one_is_sent_again() -> None:
    """Only the ids of calls tell them apart, and Gemini's calls have none."""

    def calls(id_: str) -> Message:
        return Message(role=Role.ASSISTANT, parts=(ToolCall(id_, "look", {}),))

    def repeated(*messages: Message) -> tuple[list[Unit], int] | None:
        sent = given(*messages)
        units = find_units(sent, HeldMessages(held), form, Heading())
        return find_repeated(sent, last, units, form, Heading())

    form = REQUESTS["gemini"]
    held = [says("u0"), calls("a"), says("u2"), calls("b"), calls("c")]
    last = HeldMessages([held[0], held[1], held[4]])
    found = repeated(held[0], calls("x"), calls("y"), says("u9"))
    assert found is not None
    units, count = found
    assert spans(units) == [(0, 1, 0, 1), (1, 2, 1, 2), (2, 3, 2, 3)]
    assert count == 3
    assert repeated(held[0], calls("x")) is None
    assert repeated(held[0], says("u9"), calls("x"), calls("y")) is None
    assert repeated(held[0], calls("x"), calls("y"), held[2]) is None
    assert repeated(says("u9")) is None


def test_a_prompt_that_stands_beside_the_messages_is_found_again() -> None:
    held = [says("s1"), says("s2"), says("u1"), says("a1")]
    prompt = Message(role=Role.SYSTEM, parts=(Text(system_words(held[:2])),))
    messages = [prompt, held[3]]
    sent = GivenMessages(
        messages,
        lambda place: digest(messages[place].role, messages[place].parts),
        system=True,
    )
    form = REQUESTS["anthropic"]
    found = find_units(sent, HeldMessages(held), form, Heading())
    assert [(unit.first, unit.last, unit.start) for unit in found] == [
        (0, 2, 0),
        (3, 4, 1),
    ]


def test_short_words_that_come_again_elsewhere_are_said_anew():
    """Taken for those of before, they would be folded with these."""
    talk = begun("s", "u0", "a1", "Go on.  ", "a3", "u4", "a5")
    talk.record(digest_of_range(2, 4))
    talk.send("s", "usum", "Go on.  ", quotes=True)
    assert talk.sent == ["s", "usum", "Go on.  "]
    assert talk.shown[-1] == "Go on.  "
    assert len(talk.originals) == 9


def test_what_is_said_again_behind_a_reply_is_new():
    """aider sends its files before each question and its rules behind it, and no longer before."""
    files, rules = ("ufiles", "afiles"), "srules"
    talk = begun("s", *files, "u0", rules)
    talk.send("s", *files, "u0", rules, "a1")
    made = talk.send("s", "u0", "a1", *files, "u2", rules)
    assert list(made.appended) == [3, 4, 5, 6]
    assert [type(one).__name__ for one in made.operations] == ["Snip", "Snip"]
    talk.send("s", "u0", "a1", *files, "u2", rules, "a3")
    made = talk.send("s", "u0", "a1", "u2", "a3", *files, "u4", rules)
    assert list(made.appended) == [5, 6, 7, 8]
    assert talk.sent == ["s", "u0", "a1", "u2", "a3", *files, "u4", rules]


def test_short_words_are_known_by_the_reply_to_them():
    talk = begun("s", "ufiles", "u Go on.", "srules")
    talk.send("s", "ufiles", "u Go on.", "srules", "a1")
    made = talk.send("s", "u Go on.", "a1", "ufiles", "u2", "srules")
    assert [change.kind for change in made.changes] == ["snip", "snip"]
    assert list(made.appended) == [3, 4, 5]


def reply(call: str, path: str, *thoughts: Part) -> Message:
    parts = (*thoughts, ToolCall(call, "write", {"path": path}))
    return Message(role=Role.ASSISTANT, parts=parts)


def result(call: str, *more: Part) -> Message:
    return Message(role=Role.USER, parts=(ToolResult(call, (Text("ok"),)), *more))


def matched(held: list[Message], messages: list[Message]) -> list[tuple[int, int]]:
    """Which message is found to be which original."""
    sent = GivenMessages(
        messages, lambda place: digest(messages[place].role, messages[place].parts)
    )
    form, heading = REQUESTS["anthropic"], Heading(strategy="anthropic")
    found = find_units(sent, HeldMessages(held), form, heading)
    return [(unit.start, unit.first) for unit in found if unit.end > unit.start]


def test_what_was_left_out_before_does_not_stand_between_neighbours() -> None:
    """A short reply that was asked for again follows its question directly."""
    yes, no = says("Oh yes.", Role.ASSISTANT), says("Oh no.", Role.ASSISTANT)
    held = HeldMessages([says("u0"), yes, no, says("u3"), says("a4")])

    def found(*messages: Message, left_out: set[int]) -> list[tuple[int, int]]:
        sent = given(*messages)
        units = find_units(sent, held, FORM, Heading(), left_out=left_out)
        return [(unit.start, unit.first) for unit in units]

    assert found(says("u0"), no, says("u9"), left_out={1}) == [(0, 0), (1, 2)]
    assert found(says("u0"), no, says("u9"), left_out=set()) == [(0, 0)]
    assert found(says("u0"), yes, says("u9"), left_out={1}) == [(0, 0), (1, 1)]
    assert found(says("u9"), yes, says("u3"), left_out={2}) == [(1, 1), (2, 3)]
    assert found(says("u9"), yes, says("u3"), left_out=set()) == [(2, 3)]


def test_a_result_is_not_taken_for_the_same_words_about_another_call() -> None:
    held = [says("u0"), reply("a", "one"), result("a")]
    again = [says("u0"), reply("b", "two"), result("b")]
    assert matched(held, again) == [(0, 0)]
    named = [says("u0"), reply("a", "two"), result("a", Text(says("u1").text))]
    held[2] = result("a", Text(f"{says('u1').text}\n"))
    assert matched(held, named) == [(0, 0), (2, 2)]


def test_a_result_is_known_behind_its_call_whatever_the_client_calls_that() -> None:
    held = [says("u0"), reply("a", "one"), result("a"), reply("c", "two"), result("c")]
    sent = [says("u1"), reply("b", "two"), result("b")]
    assert matched(held, sent) == [(1, 3), (2, 4)]


def test_a_response_that_was_signed_anew_is_another_one() -> None:
    """An agent that runs again under one name makes the same calls after other words."""
    thought = Thinking("Hm.", "c2lnbmVk")
    held = [says("u0"), reply("a", "one", thought), result("a")]
    again = reply("b", "one", Thinking("Hm.", "YW5ldw=="))
    assert matched(held, [says("u1"), again, result("b")]) == []
    assert matched(held, [says("u1"), reply("b", "one"), result("b")]) == []
    dropped = [says("u1"), reply("a", "one"), result("a")]
    assert matched(held, dropped) == [(1, 1), (2, 2)]
    unsigned = [held[0], reply("c", "one"), held[2]]
    assert matched(unsigned, [says("u1"), again, result("b")]) == [(1, 1), (2, 2)]


def test_reasoning_that_stands_alone_is_sent_with_the_reply_behind_it() -> None:
    """Clients leave out the reasoning of earlier turns. Responses have items for the rest."""

    def thought(data: str) -> Message:
        part = Thinking("", data=data, signer="openai-responses")
        return Message(role=Role.ASSISTANT, parts=(part,))

    def thinking(data: str, text: str) -> Message:
        parts = (*thought(data).parts, *says(text).parts)
        return Message(role=Role.ASSISTANT, parts=parts)

    def found(*messages: Message) -> list[tuple[int, int, int]]:
        sent = GivenMessages(
            messages, lambda place: digest(messages[place].role, messages[place].parts)
        )
        form, heading = (
            REQUESTS["openai-responses"],
            Heading(strategy="openai-responses"),
        )
        units = find_units(sent, HeldMessages(held), form, heading)
        return [(unit.start, unit.end, unit.first) for unit in units]

    held = [says("u0"), thinking("one", "a1"), says("u2"), thinking("two", "a3")]
    start = says("u0"), says("a1"), says("u2")
    same = [(0, 1, 0), (1, 2, 1), (2, 3, 2)]
    assert found(*start, thought("two"), says("a3"), says("u4")) == [*same, (3, 5, 3)]
    assert found(*start, thought("new"), says("a3"), says("u4")) == [*same, (4, 5, 3)]
