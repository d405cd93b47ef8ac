"""Of what is plain a request needs no words: what is sent, and said of it, is the same."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operations.domain.context import portions
from operations.domain.context.portions import Portion
from operations.domain.providers.plain import Plain, Unread, plain_of
from tests.operations.domain.context.test_portions import (
    Request,
    a_call_of,
    long_talks,
    together_of,
)
from tests.operations.domain.forwarding.sending import Conversation
from tests.operations.domain.thread.talks import FORMATS
from tests.operations.support.builders import entries, snip
from tests.operations.support.strategies import TAGS, logs
from threads.domain.message import Message, Role
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult

WHOLE = 1 << 20
WORDS = ("Yes.", "Look at that.", "Zoë was here.", "[recall:x]", "", " ", "\ud800")
IDS = ("a", "b", "c", "ab-1", "not one", "x" * 41, "")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portions, "SHORTEST", 1)


words = st.builds(Text, st.sampled_from(WORDS[:4]))
rare_words = st.builds(Text, st.sampled_from(WORDS))


@st.composite
def plain_turns(draw: st.DrawFn) -> list[Message]:
    """A question, rounds of calls with their results, and an answer; seldom anything else."""
    strange = draw(st.integers(0, 5)) == 0
    said = rare_words if strange else words
    found = [Message(role=Role.USER, parts=(draw(said),))]
    for _ in range(draw(st.integers(0, 3))):
        some = st.sampled_from(IDS) if strange else st.integers(0, 1 << 40).map(str)
        ids = draw(st.lists(some, min_size=1, max_size=3))
        text = [draw(said)] if draw(st.booleans()) else []
        arguments = [] if strange and draw(st.booleans()) else {"at": 1}
        written = draw(st.sampled_from((None, None, '{"at":  1}')))
        calls = [ToolCall(id_, "look", arguments, written) for id_ in ids]
        found.append(Message(role=Role.ASSISTANT, parts=(*text, *calls)))
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
    found = Request(conversation, format, WHOLE, unread=True).portions()
    request = Request(conversation, format, WHOLE)
    assert together_of(found) == request.at_once()
    assert [*map(told_of, found)] == [*map(told_of, request.portions())]


@settings(max_examples=100)
@given(plain_talks(), st.sampled_from(FORMATS), st.data())
def test_unread_messages_are_known_again_under_another_log(
    conversation: Conversation, format: str, data: st.DataObject
) -> None:
    count = len(conversation.given)
    log = data.draw(st.just(conversation.entries) | logs(count))
    before = Conversation(conversation.given, log, conversation.tags)
    size = data.draw(st.integers(1, 2 * count))
    shorter = Request(before, format, size, unread=True)
    request = Request(conversation, format, WHOLE, unread=True)
    grown = request.is_grown_from(shorter)
    found = request.portions(shorter.portions(), grown=grown)
    assert together_of(found) == request.at_once()


@pytest.mark.parametrize("format", FORMATS)
def test_only_what_an_operation_touches_is_read(format: str) -> None:
    said = [one for place in range(20) for one in a_call_of(f"call-{place}", place)]
    conversation = Conversation(said, entries(snip(40, 43)))
    request = Request(conversation, format, WHOLE, unread=True)
    assert together_of(request.portions()) == request.at_once()
    assert len(request.was_read) < 16


def test_the_words_of_what_was_not_read_are_nobodys() -> None:
    conversation = Conversation([*a_call_of("a", 1), *a_call_of("b", 2)])
    first = Request(conversation, "openai", WHOLE, unread=True).messages[0]
    assert isinstance(first, Unread)
    assert first.plain == Plain((), (), False)
    with pytest.raises(LookupError, match="m0"):
        _ = first.parts


CALL = ToolCall("a", "look", {})


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
        (Role.ASSISTANT, (Thinking("Well.", "sealed"), Text("Yes."))),
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
    assert plain_of(Message(role=role, parts=parts)) is None


@pytest.mark.parametrize(
    ("role", "parts", "plain"),
    [
        (Role.USER, (Text("Go."),), Plain((), (), False)),
        (Role.ASSISTANT, (Text("Yes."),), Plain((), (), False)),
        (Role.ASSISTANT, (Text("Yes."), CALL), Plain(("a",), (), False)),
        (Role.ASSISTANT, (ToolCall("a", "look", {}, "{ }"),), Plain(("a",), (), True)),
        (Role.TOOL, (ToolResult("a", ()),), Plain((), ("a",), False)),
        (Role.USER, (ToolResult("a", (Text("Zoë"),)),), Plain((), ("a",), False)),
    ],
)
def test_of_what_is_plain_ids_are_known(
    role: Role, parts: tuple[Any, ...], plain: Plain
) -> None:
    assert plain_of(Message(role=role, parts=parts)) == plain
    assert plain_of(Message(role=role, parts=parts, name="zoe")) is None
