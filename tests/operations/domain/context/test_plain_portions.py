"""Of what is plain a request needs no words: what is sent, and said of it, is the same."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operations.domain.context.portions import request as portions
from operations.domain.context.portions.portion import Portion
from operations.domain.forwarding.sent import (
    PassedMessages,
    PieceRun,
    SentBlock,
    SentMessage,
)
from operations.domain.forwarding.splice import GivenRun, joined
from operations.domain.providers.plain import PlainMessage, UnreadMessage, plain_message
from operations.domain.providers.request import Outgoing
from operations.domain.tree.leaf import Leaf
from tests.operations.domain.context.test_portions import (
    Request,
    a_call_of,
    earlier,
    long_talks,
    together_of,
)
from tests.operations.domain.forwarding.sending import Conversation
from tests.operations.domain.thread.talks import FORMATS
from tests.operations.support.builders import digest, entries, snip
from tests.operations.support.strategies import TAGS, logs
from threads.domain.message import Message, Role
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult

WHOLE = 1 << 20
WORDS = ("Yes.", "Look at that.", "Zoë was here.", "[recall:x]", "", " ", "\ud800")
IDS = ("a", "b", "c", "ab-1", "not one", "x" * 41, "")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portions, "MIN_MESSAGES", 1)
    monkeypatch.setattr(portions, "MIN_PLAIN_LENGTH", 4)


words = st.builds(Text, st.sampled_from(WORDS[:4]))
rare_words = st.builds(Text, st.sampled_from(WORDS))


thinking = st.sampled_from(
    [
        Thinking("Well.", "sealed"),
        Thinking("", None, "sealed"),
        Thinking("Well.", "sealed", None, "anthropic"),
        Thinking("Well.", "sealed", None, "gemini"),
        Thinking("Well."),
    ]
)


@st.composite
def plain_turns(draw: st.DrawFn) -> list[Message]:
    """A question, rounds of calls with their results, and an answer; seldom anything else."""
    strange, thinks = draw(st.integers(0, 5)) == 0, draw(st.booleans())
    said = rare_words if strange else words
    found = [Message(role=Role.USER, parts=(draw(said),))]
    for _ in range(draw(st.integers(0, 3))):
        some = st.sampled_from(IDS) if strange else st.integers(0, 1 << 40).map(str)
        ids = draw(st.lists(some, min_size=1, max_size=3))
        text = [draw(said)] if draw(st.booleans()) else []
        arguments = [] if strange and draw(st.booleans()) else {"at": 1}
        written = draw(st.sampled_from((None, None, '{"at":  1}')))
        calls = [ToolCall(id_, "look", arguments, written) for id_ in ids]
        thoughts = draw(st.lists(thinking, max_size=1)) if thinks else []
        found.append(Message(role=Role.ASSISTANT, parts=(*thoughts, *text, *calls)))
        results = [ToolResult(id_, tuple(draw(contents(said)))) for id_ in ids]
        if strange and draw(st.booleans()):
            results = draw(st.permutations(results))[: draw(st.integers(0, 3))]
        role = draw(st.sampled_from((Role.USER, Role.TOOL)))
        if draw(st.booleans()):
            found += [Message(role=role, parts=(result,)) for result in results]
        elif results:
            found.append(Message(role=role, parts=tuple(results)))
    if not strange or draw(st.booleans()):
        found.append(Message(role=Role.ASSISTANT, parts=(draw(said),)))
    return found


def contents(said: st.SearchStrategy[Text]) -> st.SearchStrategy[list[Text]]:
    return st.lists(said, max_size=1)


@st.composite
def plain_talks(draw: st.DrawFn) -> Conversation:
    given = draw(st.lists(plain_turns(), min_size=1, max_size=8))
    found = [one for turn in given for one in turn]
    tags = draw(st.none() | st.frozensets(st.sampled_from(TAGS)))
    return Conversation(found, draw(st.just([]) | logs(len(found))), tags)


def told_of(portion: Portion) -> Sequence[Any]:
    """All that is known of a portion, but for what it was made of."""
    members = (name for name in Portion.__dataclass_fields__ if name != "basis")
    found = {name: getattr(portion, name) for name in members}
    block = found.pop("block")
    # Only the first one's is sent.
    found.pop("system")
    keys = [one.key for one in portion.basis.messages]
    return [keys, found, block.messages]


@settings(max_examples=200)
@given(plain_talks() | long_talks(), st.sampled_from(FORMATS))
def test_messages_whose_words_nobody_read_make_the_same_portions(
    conversation: Conversation, format: str
) -> None:
    found = Request(conversation, format, WHOLE, reads=False).portions()
    request = Request(conversation, format, WHOLE)
    assert together_of(found) == request.at_once()


@settings(max_examples=200)
@given(plain_talks() | long_talks(), st.sampled_from(FORMATS))
def test_a_portion_that_nobody_read_is_what_it_is_read(
    conversation: Conversation, format: str
) -> None:
    portions.MIN_PLAIN_LENGTH = 1
    found = Request(conversation, format, WHOLE, reads=False).portions()
    read = Request(conversation, format, WHOLE).portions()
    assert [*map(told_of, found)] == [*map(told_of, read)]


@settings(max_examples=100)
@given(plain_talks(), st.sampled_from(FORMATS), st.data())
def test_unread_messages_are_known_again_under_another_log(
    conversation: Conversation, format: str, data: st.DataObject
) -> None:
    shorter = Request(*earlier(data, conversation, format), reads=False)
    request = Request(conversation, format, WHOLE, reads=False)
    grown = request.is_grown_from(shorter)
    found = request.portions(shorter.portions(), grown=grown)
    assert together_of(found) == request.at_once()


@pytest.mark.parametrize("format", FORMATS)
def test_only_what_an_operation_touches_is_read(format: str) -> None:
    said = [one for place in range(20) for one in a_call_of(f"call-{place}", place)]
    conversation = Conversation(said, entries(snip(40, 43)))
    request = Request(conversation, format, WHOLE, reads=False)
    assert together_of(request.portions()) == request.at_once()
    assert len(request.was_read) < 16


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_not_read_is_one_portion_up_to_the_cut_before_what_has_to_be(
    format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portions, "MIN_MESSAGES", 4)
    monkeypatch.setattr(portions, "MIN_PLAIN_LENGTH", 64)
    said = [one for place in range(20) for one in a_call_of(f"call-{place}", place)]
    conversation = Conversation(said, entries(digest(40, 43)))
    request = Request(conversation, format, WHOLE, reads=False)
    found = request.portions()
    assert together_of(found) == request.at_once()
    # There is no cut between a summary and the answer before it.
    assert [portion.length for portion in found][:2] == [4, 35]


def test_what_comes_last_is_read_only_where_somebody_else_has_to_speak_last() -> None:
    said = [one for place in range(20) for one in a_call_of(f"call-{place}", place)]
    for format, end, is_read in (
        ("openai", 80, False),
        ("anthropic", 80, True),
        ("anthropic", 77, False),
    ):
        conversation = Conversation(said[:end], entries(snip(40, 43)))
        request = Request(conversation, format, WHOLE, reads=False)
        assert together_of(request.portions()) == request.at_once()
        assert (f"m{end - 1}" in request.was_read) is is_read


@pytest.mark.parametrize("format", FORMATS)
def test_what_cannot_go_out_as_it_was_given_is_read(format: str) -> None:
    said = [one for place in range(9) for one in a_call_of(f"call-{place}", place)]
    conversation = Conversation(said, entries(snip(24, 27)))
    found, read = (
        Request(conversation, format, WHOLE, reads=reads) for reads in (False, True)
    )
    for request in (found, read):
        request.units = [
            unit._replace(as_given=unit.first != 13) for unit in request.units
        ]
    told = [told_of(portion) for portion in found.portions()]
    assert "m13" in found.was_read
    assert "m16" not in found.was_read
    assert {"m13"} not in [one["given"] for _, one, _ in told]
    whole = [portion.block.pieces for portion in found.portions()]
    assert joined(piece for block in whole for piece in block) == joined(
        piece for portion in read.portions() for piece in portion.block.pieces
    )


def test_what_passed_before_is_sent_by_the_numbers_that_it_has() -> None:
    said = [one for place in range(9) for one in a_call_of(f"call-{place}", place)]
    before = [
        SentMessage(GivenRun(place, place + 1), (f"m{place}",), 10)
        for place in range(len(said))
    ]
    blocks = [SentBlock(tuple(before[:20])), SentBlock(tuple(before[20:]))]
    for block, first in zip(blocks, (100, 7), strict=True):
        block.runs = [PieceRun(first, first + len(block.messages))]
    conversation = Conversation(said, entries(snip(24, 27)))
    request = Request(conversation, "openai", WHOLE, reads=False)
    plain = [told_of(portion) for portion in request.portions()]
    request.passed = PassedMessages(blocks)
    found = request.portions()
    assert [told_of(portion) for portion in found] == plain
    numbers = {
        sent.keys[0]: number
        for portion in found
        if portion.block.runs
        for sent, number in portion.block.numbered()
    }
    assert numbers["m8"] == 108
    assert numbers["m32"] == 19
    assert "m23" not in numbers


def test_the_words_of_what_was_not_read_are_nobodys() -> None:
    conversation = Conversation([*a_call_of("a", 1), *a_call_of("b", 2)])
    first = Request(conversation, "openai", WHOLE, reads=False).messages[0]
    assert isinstance(first, UnreadMessage)
    assert first.plain == PlainMessage((), (), False)
    with pytest.raises(LookupError, match="m0"):
        _ = first.parts


CALL = ToolCall("a", "look", {})
SIGNED = PlainMessage(("a",), (), False, frozenset(("anthropic",)))


@pytest.mark.parametrize(
    ("role", "parts"),
    [
        (Role.USER, ()),
        (Role.USER, (Text("One."), Text("Two."))),
        (Role.USER, (Text(" "),)),
        (Role.USER, (Image("image/png", "0" * 64, None),)),
        (Role.USER, (ToolResult("a", ()), Text("And that."))),
        (Role.TOOL, (Text("Seen."),)),
        (Role.TOOL, (ToolResult("", ()),)),
        (Role.TOOL, (ToolResult("a", (Text("One."), Text("Two."))),)),
        (Role.TOOL, (ToolResult("a", (Text("\ud800"),)),)),
        (Role.SYSTEM, (Text("Be brief."),)),
        (Role.ASSISTANT, (Thinking("Well."), Text("Yes."))),
        (Role.ASSISTANT, (Thinking("Well.", "sealed"),)),
        (Role.ASSISTANT, (Text("Yes."), Thinking("Well.", "sealed"))),
        (Role.ASSISTANT, (Thinking("\ud800", "sealed"), Text("Yes."))),
        (Role.ASSISTANT, (CALL, Text("Behind."))),
        (Role.ASSISTANT, (Text(""), CALL)),
        (Role.ASSISTANT, (ToolCall("a b", "look", {}),)),
        (Role.ASSISTANT, (ToolCall("a", "look at", {}),)),
        (Role.ASSISTANT, (ToolCall("a", "look", "free text"),)),
        (Role.ASSISTANT, (ToolCall("a", "look", {"at": "\ud800"}),)),
    ],
)
def test_what_a_rule_may_change_is_not_plain(
    role: Role, parts: tuple[Any, ...]
) -> None:
    assert plain_message(Message(role=role, parts=parts), "anthropic") is None


@pytest.mark.parametrize(
    ("role", "parts", "plain"),
    [
        (Role.USER, (Text("Go."),), PlainMessage((), (), False)),
        (Role.ASSISTANT, (Text("Yes."),), PlainMessage((), (), False)),
        (Role.ASSISTANT, (Text("Yes."), CALL), PlainMessage(("a",), (), False)),
        (
            Role.ASSISTANT,
            (ToolCall("a", "look", {}, "{ }"),),
            PlainMessage(("a",), (), True),
        ),
        (Role.ASSISTANT, (Thinking("Well.", "sealed"), CALL), SIGNED),
        (Role.TOOL, (ToolResult("a", ()),), PlainMessage((), ("a",), False)),
        (
            Role.USER,
            (ToolResult("a", (Text("Zoë"),)),),
            PlainMessage((), ("a",), False),
        ),
    ],
)
def test_of_what_is_plain_ids_are_known(
    role: Role, parts: tuple[Any, ...], plain: PlainMessage
) -> None:
    assert plain_message(Message(role=role, parts=parts), "anthropic") == plain
    assert plain_message(Message(role=role, parts=parts, name="zoe")) is None


def test_reasoning_is_plain_only_where_it_is_known_who_signed_it() -> None:
    message = Message(role=Role.ASSISTANT, parts=(Thinking("Well.", "sealed"), CALL))
    assert plain_message(message) is None
    assert plain_message(message, "openai") == SIGNED
    assert plain_message(message, "gemini") == SIGNED._replace(
        signers=frozenset(("gemini",))
    )


def test_signed_reasoning_is_read_from_a_change_on_and_not_before() -> None:
    thought = Thinking("Well.", "sealed")
    said = [
        replace(one, parts=(thought, *one.parts)) if one.role is Role.ASSISTANT else one
        for place in range(20)
        for one in a_call_of(f"call-{place}", place)
    ]
    conversation = Conversation(said, entries(snip(40, 43)))
    request = Request(conversation, "anthropic", WHOLE, reads=False)
    assert together_of(request.portions()) == request.at_once()
    assert not {f"m{index}" for index in range(8, 32)} & {*request.was_read}
    assert {f"m{index}" for index in range(48, 80)} <= {*request.was_read}


def test_a_plain_message_that_is_read_goes_out_as_one_that_always_was() -> None:
    parts = (Text("Yes."),)
    plain = plain_message(Message(role=Role.USER, parts=parts))
    assert plain is not None
    unread = UnreadMessage.of(plain, 3, Leaf("user", 4, 2))
    with pytest.raises(LookupError):
        assert unread.parts
    always = Outgoing(
        *("m3", "m3", Role.USER, parts, 4, 2, frozenset((2,)), "openai"), index=3
    )
    read = unread.with_contents(parts, "openai", None)
    assert (type(read), read) == (Outgoing, always)
