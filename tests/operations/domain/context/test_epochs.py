"""Signed reasoning is sent exactly where the model reads before it what it read when it thought."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.context.assembly import Plan
from operations.domain.context.epochs import (
    MAX_EPOCHS,
    NO_EPOCHS,
    Followed,
    RequestStart,
    begin_epoch,
    continue_epoch,
)
from operations.domain.context.policy import REPLAY, Policy
from operations.domain.log.entry import Entry
from operations.domain.log.operation import Operation, Revise, Toggle
from operations.domain.providers import compile_request
from operations.domain.providers.passes.turn_order import CLOSER
from operations.domain.providers.request import Layer
from tests.operations.support import builders
from tests.operations.support.conversations import Conversation
from tests.operations.support.prepared import Context, characters, context
from threads.domain.message import Message, Role
from threads.domain.part import Text, Thinking, ToolCall, ToolResult


class _Edit(NamedTuple):
    """An operation on some of the messages that there are by then."""

    kind: str
    first: int
    count: int

    def of(self, messages: int) -> Operation:
        first = min(self.first, messages - 1)
        last = min(first + self.count, messages - 1)
        match self.kind:
            case "revise":
                return revise(first, last, f"Short {self.count}")
            case "say":
                return revise(first, last, f"Said {self.count}", "assistant")
            case "snip":
                return builders.snip(first, last)
            case "digest":
                return builders.digest(first, last)
            case "insert":
                return builders.insert(f"m{first}", "Note")
        return Toggle(operations=(f"o{self.count + 1}",), active=self.kind == "on")


class Loop:
    """An agent's loop with a provider that binds its signatures to everything before them."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.entries: list[Entry] = []
        self.layers: Sequence[Layer] = ()
        self.policy = REPLAY
        self.epochs = NO_EPOCHS
        self.remembers = True
        self.sent: list[str] = []
        """The signatures in the last request."""
        self.is_closed = False
        """Whether the last request ended with words that no other one has."""
        self.lineage = object()
        self._followed: Followed | None = None

    def operate(self, *operations: Operation) -> None:
        self.lineage = object()
        self.entries = builders.entries(
            *(one.operation for one in self.entries), *operations
        )

    def ask(self, text: str = "Go on.") -> None:
        self.messages.append(Message(role=Role.USER, parts=(Text(text),)))

    def turn(self) -> list[str]:
        """A request and its response; the signatures that were sent."""
        made, start = self.context(), self.start()
        found = continue_epoch(self.epochs, start, self._followed)
        draft = replace(made.draft, signed=found.signed)
        request = compile_request("anthropic", draft).request
        self.sent = [*_checked(request)]
        self.is_closed = CLOSER in str(request["messages"][-1])
        if self.is_closed or not found.is_same:
            leaves, closed = made.thread.leaves, self.is_closed
            self.epochs = begin_epoch(self.epochs, found, leaves, is_closed=closed)
        self._followed = found.followed if self.remembers else None
        self.epochs = self.epochs._replace(seen=len(self.messages))
        self.answer(_digest(request, len(request["messages"])))
        return self.sent

    def context(self) -> Context:
        """What would be sent now."""
        plan = Plan(
            count=characters,
            strategy="anthropic",
            layers=self.layers,
            policy=self.policy,
        )
        strategies = ["anthropic"] * len(self.messages)
        conversation = Conversation(messages=self.messages, strategies=strategies)
        return context(conversation, self.entries, plan, None, ())

    def start(self) -> RequestStart:
        """What the next request would send."""
        made = self.context()
        return RequestStart(
            layers=made.assembly.layers,
            messages=made.assembly.messages,
            intact=made.assembly.intact,
            is_plain=made.assembly.is_plain,
            originals=len(self.messages),
            can_recall=True,
            lineage=self.lineage,
            left_out=lambda: made.draft.left_out,
        )

    def change(self, change: Any) -> None:
        """Change what the next request is made of."""
        if change == "ask":
            self.ask()
        elif change == "forget":
            self.remembers = not self.remembers
        elif isinstance(change, Policy):
            self.policy = change
        elif isinstance(change, _Edit):
            self.operate(change.of(len(self.messages)))
        else:
            self.layers = change

    def answer(self, read: str) -> None:
        """A response of a model that has read this, and the result of its call."""
        name = f"c{len(self.messages)}"
        call = ToolCall(name, "look", {})
        thought = Thinking("Hm.", f"{name} {read}")
        self.messages += [
            Message(role=Role.ASSISTANT, parts=(thought, call)),
            Message(
                role=Role.TOOL, parts=(ToolResult(name, (Text(f"Result {name}"),)),)
            ),
        ]


def _checked(request: dict[str, Any]) -> Iterator[str]:
    for place, message in enumerate(request["messages"]):
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("type") == "thinking":
                name, read = block["signature"].split()
                assert read == _digest(request, place), f"{name} doesn't hold"
                yield name


def _digest(request: dict[str, Any], place: int) -> str:
    read = repr((request.get("system"), request["messages"][:place]))
    return hashlib.sha256(read.encode()).hexdigest()


def revise(first: int, last: int, text: str, role: str = "user") -> Revise:
    """A revision in the words of a user, so that no message joins the prompt."""
    return Revise(
        targets=builders.keys(first, last), messages=(builders.new(text, role),)
    )


def loop(turns: int = 3) -> Loop:
    """A loop that was sent as its client has it so far."""
    made = Loop()
    made.ask("Question")
    for _ in range(turns):
        made.turn()
    return made


def test_a_loop_under_an_operation_goes_on_with_its_own_thinking() -> None:
    made = loop(3)
    assert made.sent == ["c1", "c3"]
    made.operate(revise(0, 0, "Other"))
    assert made.turn() == []  # c1, c3 and c5 read the question
    assert made.turn() == ["c7"]
    assert made.turn() == ["c7", "c9"]


def test_a_later_operation_leaves_the_thinking_before_it() -> None:
    made = loop(1)
    made.operate(revise(0, 0, "Other"))
    for _ in range(4):
        made.turn()
    assert made.sent == ["c3", "c5", "c7"]
    made.operate(revise(6, 6, "Short"))
    assert made.turn() == ["c3", "c5"]
    assert made.turn() == ["c3", "c5", "c11"]


def test_switching_an_operation_off_and_on_brings_back_what_holds_again() -> None:
    made = loop(2)
    made.operate(revise(0, 0, "Other"))
    made.turn()
    made.turn()
    made.operate(Toggle(operations=("o1",), active=False))
    assert made.turn() == ["c1", "c3"]
    assert made.turn() == ["c1", "c3", "c9"]
    made.operate(Toggle(operations=("o1",), active=True))
    assert made.turn() == ["c5", "c7"]
    assert made.turn() == ["c5", "c7", "c13"]


def test_a_layer_holds_as_long_as_it_says_the_same() -> None:
    made = loop(1)
    made.layers = (Layer(name="state", text="Done: nothing", tokens=3),)
    assert [made.turn() for _ in range(3)] == [[], ["c3"], ["c3", "c5"]]
    made.layers = (Layer(name="state", text="Done: all", tokens=3),)
    assert [made.turn() for _ in range(2)] == [[], ["c9"]]


def test_the_oldest_epochs_are_forgotten() -> None:
    made = loop(1)
    for number in range(MAX_EPOCHS + 3):
        made.layers = (Layer(name="state", text=f"Step {number}", tokens=3),)
        made.turn()
    assert len(made.epochs.changed) == MAX_EPOCHS
    made.layers = (Layer(name="state", text="Step 0", tokens=3),)
    assert made.turn() == []
    made.layers = (Layer(name="state", text="Step 9", tokens=3),)
    assert made.turn() == ["c21"]


def test_a_response_to_a_request_that_nobody_saw_is_sent_without_its_thinking() -> None:
    made = loop(1)
    made.operate(revise(0, 0, "Other"))
    made.turn()
    made.turn()
    made.answer("another conversation")
    assert made.turn() == ["c3", "c5"]
    assert made.turn() == ["c3", "c5", "c9"]


def test_a_window_hides_thinking_only_while_it_is_there() -> None:
    made = loop(3)
    made.policy = Policy(preset="custom", window=1)
    made.ask("More")
    assert [made.turn(), made.turn()] == [[], ["c8"]]
    made.policy = REPLAY
    assert made.turn() == ["c1", "c3", "c5"]
    made.ask("Even more")
    made.policy = Policy(preset="custom", window=1)
    assert made.turn() == []


def test_thinking_after_words_that_are_not_repeated_is_left_out() -> None:
    """A request must not end with a response, so the provider's rules add a question."""
    made = loop(1)
    made.operate(revise(1, 2, "There are 14.", "assistant"))
    assert made.turn() == []
    assert made.turn() == []  # c3 read the added question
    assert made.turn() == ["c5"]


edits = st.builds(
    _Edit,
    st.sampled_from(("revise", "say", "snip", "digest", "insert", "off", "on")),
    st.integers(0, 12),
    st.integers(0, 3),
)
steps = st.one_of(
    edits,
    st.sampled_from(
        (
            (Layer(name="state", text="One", tokens=1),),
            (Layer(name="state", text="Two", tokens=1),),
            (),
            Policy(preset="custom", window=1),
            REPLAY,
            "ask",
            "forget",
        )
    ),
)


@given(st.lists(st.tuples(st.lists(steps, max_size=2), st.integers(1, 3)), max_size=8))
def test_whatever_is_changed_no_signature_is_sent_that_does_not_hold(
    course: list[tuple[list[Any], int]],
) -> None:
    made = loop(2)
    for changes, turns in course:
        for change in changes:
            made.change(change)
        lost = 1  # the thinking from before the change
        for _ in range(turns):
            made.turn()
            lost += made.is_closed
        assert len(made.sent) >= turns - lost


def test_a_response_keeps_its_thinking_if_the_end_of_its_request_was_left_out() -> None:
    made = loop(2)
    made.operate(builders.snip(3, 4))
    assert made.turn() == ["c1"]
    assert made.turn() == ["c1", "c5"]
    made.operate(builders.snip(8, 8))  # the result of the call in progress
    assert made.turn() == ["c1", "c5", "c7"]
    assert made.turn() == ["c1", "c5", "c7", "c9"]
