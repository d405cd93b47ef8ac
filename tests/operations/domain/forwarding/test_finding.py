"""Which of its originals a client still sends, wherever they stand."""

from dataclasses import dataclass

from operations.domain.forwarding.alignment import GivenMessages, Unit
from operations.domain.forwarding.finding import find_units
from tests.operations.support.builders import digest as digest_of_range
from threads.domain.body import digest, tombstone_of
from threads.domain.formats import REQUESTS
from threads.domain.formats.format import Heading
from threads.domain.formats.requests import system_words
from threads.domain.message import Message, Role
from threads.domain.part import Text

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
