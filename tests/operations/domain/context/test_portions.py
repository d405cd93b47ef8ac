"""A request in portions is, to the byte, the request in one, whatever was known before."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operations.domain.context.compiling import compare, unanswered
from operations.domain.context.portions import request as portions
from operations.domain.context.portions.portion import Frame, Portion
from operations.domain.context.portions.request import Portions
from operations.domain.context.portions.sums import KeptPortions, PortionTotals
from operations.domain.context.step import Count
from operations.domain.forwarding.passthrough import with_client_messages
from operations.domain.forwarding.sent import (
    KeptBlocks,
    PassedMessages,
    PieceRun,
    SentBlock,
)
from operations.domain.forwarding.splice import joined, splice
from operations.domain.providers import PROVIDERS, compile_portion
from operations.domain.providers.passes.work import combine_findings, findings_to_issues
from operations.domain.providers.plain import UnreadMessage
from operations.domain.providers.request import PROMPT, LeftOutResult, Outgoing
from operations.domain.providers.signed_places import SignedPlaces
from operations.domain.tree.key import Key
from tests.operations.domain.forwarding.sending import Conversation
from tests.operations.domain.thread.talks import FORMATS, conversations, turns
from tests.operations.support.builders import entries, snip
from tests.operations.support.strategies import TAGS, logs
from threads.domain import formats
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.tokens import total, words


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portions, "MIN_MESSAGES", 1)


def dump(value: Any) -> bytes:
    return json.dumps(value).encode()


def letters(parts: Sequence[Part]) -> int:
    """Counts letters, so that whatever is not counted, or twice, shows."""
    return sum(total(one, len) for one in words(parts))


class Request:
    """A request of a conversation, in portions and in one."""

    def __init__(
        self,
        conversation: Conversation,
        format: str,
        count: int,
        *,
        reads: bool = True,
    ) -> None:
        self.format = format
        body = conversation.export(format, "original")
        body = {**body, "messages": body["messages"][:count]}
        self.thread, made, more, beside = conversation.aligned(format, body)
        self.assembly, draft = conversation.drafted(self.thread, format, more)
        self.messages = draft.messages
        if not reads:
            _, known = conversation.drafted(self.thread, format, more, reads=False)
            self.messages = known.messages
        lost = [*unanswered(draft.messages)]
        left_out = {
            id_: LeftOutResult("m0", "o1", 9) for id_ in lost if sum(id_.encode()) % 2
        }
        self.draft = replace(draft, left_out=left_out)
        self.units, self.system = made.units, body.get("system")
        self.was_read: list[str] = []
        self.passed: PassedMessages | None = None
        self.given = [*([None] * beside), *range(len(body["messages"]))]
        self.own = body["messages"]
        self.count: Count = len
        self.recorded: Callable[[Key], int] = lambda _: 1
        self.words = conversation.words(self.thread, self.thread.keys, more)

    def count_letters(self) -> None:
        """From now on tokens are letters."""
        self.count = letters
        self.recorded = lambda key: letters(self.words[key].parts)
        self.messages = [
            one._replace(tokens=letters(one.parts)) for one in self.messages
        ]
        self.draft = replace(self.draft, messages=self.messages)

    def portions(
        self, known: Sequence[Portion] = (), *, grown: bool = False
    ) -> list[Portion]:
        by_key = {key: unit for unit in self.units for key in unit.keys}
        prompt = [one for one in self.draft.layers if one.name == PROMPT]
        of_prompt = [by_key.get(key) for one in prompt for key in one.keys]
        at_top = [*takewhile(lambda one: one.start == 0, self.units), *of_prompt]
        frame = Frame(
            provider=self.format,
            draft=replace(self.draft, messages=()),
            thread=self.thread,
            given=self.given,
            system=self.system,
            at_top=[unit for unit in at_top if unit],
            unit=by_key.get,
            left_out=lambda calls: {
                id_: LeftOutResult("m0", "o1", 9)
                for id_ in calls
                if sum(id_.encode()) % 2
            },
            write=dump,
            count=self.count,
            recorded=self.recorded,
            read=self.read,
            passed=self.passed,
        )
        return Portions(frame, known, grown=grown).divide(
            self.messages, signed=self.draft.signed
        )

    def read(self, messages: Sequence[Outgoing]) -> list[Outgoing]:
        by_key = {one.key: one for one in self.draft.messages}
        self.was_read += [one.key for one in messages]
        return [
            one.with_contents(said.parts, said.strategy, said.name)
            if isinstance(one, UnreadMessage) and (said := by_key[one.key])
            else one
            for one in messages
        ]

    def is_grown_from(self, other: "Request") -> bool:
        """Whether it differs from another one in nothing but what follows at its end."""
        ours, theirs = self.draft, other.draft
        return (
            list(ours.messages[: len(theirs.messages)]) == list(theirs.messages)
            and ours.layers == theirs.layers
            and self.units[: len(other.units)] == other.units
            and not other.thread.log.masks
        )

    def at_once(self) -> list[Any]:
        """What the request is if nothing is cut."""
        whole = compile_portion(self.format, self.draft)
        compared = compare(self.draft.messages, whole.compiled, len)
        passed = with_client_messages(
            whole.compiled,
            self.draft.layers,
            self.draft.messages,
            self.thread,
            self.units,
            self.given,
            self.system,
            takes_system=PROVIDERS[self.format].rules.system_anywhere,
        )
        return [
            splice(passed.messages, dump),
            passed.system,
            passed.given,
            list(map(tuple, passed.origins)),
            whole.compiled.issues,
            compared.lost,
            whole.compiled.prompt,
        ]


def together_of(found: Sequence[Portion]) -> list[Any]:
    """What portions are together."""
    starts = [sum(one.length for one in found[:place]) for place in range(len(found))]
    blocks = [one.block for one in found]
    findings = zip(starts, (one.findings for one in found), strict=True)
    return [
        joined(piece for block in blocks for piece in block.pieces),
        found[0].system,
        frozenset().union(*(one.given for one in found)),
        [message.keys for block in blocks for message in block.messages],
        findings_to_issues(combine_findings(findings)),
        [lost for one in found for lost in one.lost],
        found[0].prompt,
    ]


def blocks_of(found: Sequence[Portion]) -> list[Any]:
    return [one.block.messages for one in found]


@st.composite
def long_talks(draw: st.DrawFn) -> Conversation:
    """Conversations with many places at which they may be cut."""
    found = [
        one for turn in draw(st.lists(turns(), min_size=3, max_size=12)) for one in turn
    ]
    tags = draw(st.none() | st.frozensets(st.sampled_from(TAGS)))
    return Conversation(found, draw(logs(len(found))), tags)


def earlier(
    data: st.DataObject, conversation: Conversation, format: str
) -> tuple[Conversation, str, int]:
    """A request of a conversation that came before: shorter, or under another log."""
    count = len(conversation.given)
    log = data.draw(st.just(conversation.entries) | logs(count))
    before = Conversation(conversation.given, log, conversation.tags)
    return before, format, data.draw(st.integers(1, 2 * count))


@settings(max_examples=250)
@given(long_talks() | conversations(), st.sampled_from(FORMATS))
def test_portions_together_are_the_request(
    conversation: Conversation, format: str
) -> None:
    request = Request(conversation, format, 1 << 20)
    assert together_of(request.portions()) == request.at_once()


@settings(max_examples=250)
@given(long_talks() | conversations(), st.sampled_from(FORMATS), st.data())
def test_the_messages_that_go_out_are_counted_as_they_are_written(
    conversation: Conversation, format: str, data: st.DataObject
) -> None:
    """In a session that a client of the same provider recorded."""
    form, body = formats.REQUESTS[format], conversation.export(format, "original")
    prompt = anthropic.read_system(body.get("system"))
    recorded = [*prompt, *map(form.read, body["messages"])]
    log = data.draw(logs(len(recorded)))
    request = Request(Conversation(recorded, log, conversation.tags), format, 1 << 20)
    request.count_letters()
    found = [one for portion in request.portions() for one in portion.block.messages]
    said = [
        letters(formats.REQUESTS[format].read(form).parts)
        for one in found
        for form in (
            [json.loads(one.piece)]
            if isinstance(one.piece, bytes)
            else request.own[one.piece.start : one.piece.end]
        )
    ]
    assert sum(one.tokens for one in found) == sum(said)


@settings(max_examples=250)
@given(long_talks(), st.sampled_from(FORMATS), st.data())
def test_what_is_known_of_another_request_changes_nothing(
    conversation: Conversation, format: str, data: st.DataObject
) -> None:
    """Of one that was shorter, or under another log."""
    shorter = Request(*earlier(data, conversation, format))
    request = Request(conversation, format, 1 << 20)
    portions.MIN_MESSAGES = data.draw(st.sampled_from([1, 4]))
    known = shorter.portions()
    found = request.portions(known, grown=request.is_grown_from(shorter))
    assert together_of(found) == request.at_once()
    tokens = sum(block.tokens for block in (one.block for one in found))
    whole = SentBlock(
        tuple(m for one in request.portions() for m in one.block.messages)
    )
    assert tokens == whole.tokens


@settings(max_examples=100)
@given(long_talks(), st.sampled_from(FORMATS), st.data())
def test_portions_that_are_kept_are_summed_once(
    conversation: Conversation, format: str, data: st.DataObject
) -> None:
    """What is said of them all is what is said of them in two goes."""
    found = Request(conversation, format, 1 << 20).portions()
    for place, portion in enumerate(found):
        portion.block.runs = [PieceRun(place, place + 1)]
    first = data.draw(st.integers(0, len(found)))
    kept = KeptPortions().of(found[:first])
    whole = kept.of(found)
    assert whole.sums == PortionTotals().extended(found)
    assert whole.blocks == KeptBlocks().extended([one.block for one in found])
    assert whole.blocks.runs == [PieceRun(0, len(found))]
    _, _, given, _, issues, lost, _ = together_of(found)
    assert findings_to_issues(whole.sums.findings) == issues
    assert list(whole.sums.lost) == [one for one in lost if one[0] not in given]


def test_portions_are_kept_as_far_as_their_pieces_are() -> None:
    said = [
        Message(role=(Role.USER, Role.ASSISTANT)[k % 2], parts=(Text(f"Word {k}."),))
        for k in range(12)
    ]
    found = Request(Conversation(said), "openai", 12).portions()
    assert KeptPortions().of(found) == KeptPortions()
    for place in (0, 1, 3):
        found[place].block.runs = [PieceRun(place, place + 1)]
    kept = KeptPortions().of(found)
    assert list(kept.sums.portions) == found[:2]
    again = Request(Conversation(said), "openai", 12).portions()
    assert kept.of(again) == KeptPortions()
    assert kept.of(found[:1]).sums.portions == (found[0],)


def test_what_is_the_same_is_not_made_again() -> None:
    said = [
        Message(role=(Role.USER, Role.ASSISTANT)[k % 2], parts=(Text(f"Word {k}."),))
        for k in range(40)
    ]
    first = Request(
        Conversation(said[:38], entries(snip(9, 9))), "openai", 38
    ).portions()
    second = Request(Conversation(said, entries(snip(9, 9))), "openai", 40)
    third = Request(Conversation(said, entries(snip(9, 9), snip(21, 21))), "openai", 40)
    for grown in (False, True):
        again = second.portions(first, grown=grown)
        assert sum(one not in first for one in again) == 2
    assert sum(one not in again for one in third.portions(again)) == 1


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("ids", ["xxaba", "xaabba", "xabcabxc", "xxxxx", "abcdefad"])
def test_calls_of_one_id_are_of_one_portion(format: str, ids: str) -> None:
    """Wherever they are, also where what is between them has an id in common with others."""
    said = [one for place, id_ in enumerate(ids) for one in a_call_of(id_, place)]
    request = Request(Conversation(said), format, 1 << 20)
    found = request.portions()
    assert together_of(found) == request.at_once()
    asked = [{m.key for m in one.basis.messages} for one in found]
    assert sum(map(len, asked)) == len(set().union(*asked)) == len(said)
    of = [one.ids for one in found]
    assert sum(map(len, of)) == len(frozenset().union(*of))


@pytest.mark.parametrize("format", FORMATS)
def test_an_id_that_comes_again_is_renamed_in_what_was_known_too(format: str) -> None:
    said = [one for place, id_ in enumerate("abca") for one in a_call_of(id_, place)]
    before = Request(Conversation(said[:12]), format, 1 << 20).portions()
    request = Request(Conversation(said), format, 1 << 20)
    assert together_of(request.portions(before, grown=True)) == request.at_once()


@pytest.mark.parametrize("format", FORMATS)
def test_what_was_known_holds_only_as_far_as_signatures_do(format: str) -> None:
    thought = Message(role=Role.ASSISTANT, parts=(Thinking("Well.", "sealed"),))
    said = [
        one
        for place, id_ in enumerate("abcd")
        for one in [*a_call_of(id_, place)[:3], thought, a_call_of(id_, place)[3]]
    ]
    before = Request(Conversation(said[:15]), format, 1 << 20)
    request = Request(Conversation(said), format, 1 << 20)
    known = before.portions()
    request.draft = replace(request.draft, signed=SignedPlaces.first(7))
    assert together_of(request.portions(known, grown=True)) == request.at_once()


@pytest.mark.parametrize("format", FORMATS)
def test_an_answer_that_is_blank_begins_no_portion(format: str) -> None:
    """Nothing would be left of one in which it is alone."""
    said = [
        *a_call_of("a", 0)[:3],
        Message(role=Role.ASSISTANT, parts=(Text(" "),)),
    ]
    request = Request(Conversation(said), format, 1 << 20)
    assert together_of(request.portions()) == request.at_once()


def test_behind_a_change_all_portions_are_met_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(portions, "MIN_MESSAGES", 6)
    said = [one for place in range(40) for one in a_call_of(f"call-{place}", place)]
    known = Request(Conversation(said), "openai", 1 << 20).portions()
    for first in range(4, 12):  # from each place of a portion, and across two of them
        changed = Conversation(said, entries(snip(first, first + 3)))
        request = Request(changed, "openai", 1 << 20)
        found = request.portions(known)
        assert together_of(found) == request.at_once()
        assert len({id(one) for one in found} - {id(one) for one in known}) <= 3


def a_call_of(id_: str, place: int) -> list[Message]:
    """A question, a call of this id and its result, and what is said of it."""
    return [
        Message(role=Role.USER, parts=(Text(f"Question {place}."),)),
        Message(role=Role.ASSISTANT, parts=(ToolCall(id_, "look", {"at": place}),)),
        Message(role=Role.TOOL, parts=(ToolResult(id_, (Text(f"Seen {place}."),)),)),
        Message(role=Role.ASSISTANT, parts=(Text(f"Answer {place}."),)),
    ]
