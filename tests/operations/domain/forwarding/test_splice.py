"""What goes out as bytes says what the messages say, and holds the client's own bytes."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from operations.domain.forwarding.splice import GivenRun, Splice, splice
from tests.operations.domain.thread.talks import FORMATS, conversations

from .sending import Conversation


def dump(value: Any) -> bytes:
    return json.dumps(value).encode()


def raw(value: Any) -> bytes:
    """The same in another spelling, as only its client writes it."""
    return json.dumps(value, indent=1, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


def test_runs_of_the_clients_messages_stand_between_ready_ones() -> None:
    made, own = {"content": "made"}, [b"0", b"1", b"2", b"3", b"4", b"5"]
    found = Splice(splice([0, 1, made, 3, 4, 0, made], dump))

    assert found.pieces == (
        *(GivenRun(0, 2), dump(made), GivenRun(3, 5), GivenRun(0, 1), dump(made)),
    )
    assert found.of(run_of(own), before=b"[", after=b"]") == b",".join(
        (b"[0,1", dump(made), b"3,4", b"0", dump(made) + b"]")
    )
    assert found.weight > len(dump(made))
    assert Splice(()).of(run_of([]), before=b"[", after=b"]") == b"[]"


def run_of(own: Sequence[bytes]) -> Callable[[int, int], bytes]:
    return lambda start, end: b",".join(own[start:end])


@settings(max_examples=60)
@given(conversations(), st.sampled_from(FORMATS))
def test_spliced_messages_are_those_that_are_sent(
    conversation: Conversation, format: str
) -> None:
    body = conversation.export(format, "original")
    sent = conversation.apply(format, body).messages
    given_raw = [raw(form) for form in body["messages"]]
    places = {id(form): place for place, form in enumerate(body["messages"])}
    found = Splice(splice([places.get(id(form), form) for form in sent], dump))

    spliced = found.of(run_of(given_raw), before=b"[", after=b"]")
    assert json.loads(spliced) == sent
