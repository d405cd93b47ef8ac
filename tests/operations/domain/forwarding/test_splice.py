"""What goes out as bytes says what the messages say, and holds the client's own bytes."""

import json
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
    forms = [{"content": str(place)} for place in range(6)]
    made = {"content": "made"}
    found = splice(
        [*forms[:2], made, *forms[3:5], forms[0], dict(forms[5])], forms, dump
    )

    assert found.pieces == (
        *(GivenRun(0, 2), dump(made), GivenRun(3, 5), GivenRun(0, 1), dump(forms[5])),
    )
    assert found.of(
        [b"0", b"1", b"2", b"3", b"4", b"5"], before=b"[", behind=b"]"
    ) == b",".join((b"[0,1", dump(made), b"3,4", b"0", dump(forms[5]) + b"]"))
    assert found.weight > len(dump(made))
    assert Splice(()).of([], before=b"[", behind=b"]") == b"[]"


def test_the_system_beside_the_messages_is_none_of_them() -> None:
    form = {"content": "0"}
    assert splice([form], [None, form], dump).pieces == (GivenRun(1, 2),)


@settings(max_examples=60)
@given(conversations(), st.sampled_from(FORMATS))
def test_spliced_messages_are_those_that_are_sent(
    conversation: Conversation, format: str
) -> None:
    body = conversation.export(format, "original")
    sent = conversation.apply(format, body).messages
    given_raw = [raw(form) for form in body["messages"]]
    found = splice(sent, body["messages"], dump)

    assert json.loads(found.of(given_raw, before=b"[", behind=b"]")) == sent
    kept = [one for one in found.pieces if isinstance(one, GivenRun)]
    own = {id(form) for form in body["messages"]}
    assert sum(run.end - run.start for run in kept) == sum(id(f) in own for f in sent)
