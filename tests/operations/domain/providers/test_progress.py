"""A response in progress must begin with the thinking that it had."""

from typing import Any

import pytest

from operations.domain.providers.progress import lost_thinking

Form = dict[str, Any]
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="}
HIDDEN = {"type": "redacted_thinking", "data": "c2VhbA=="}
CALL = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c", "content": "14"}
TEXT = {"type": "text", "text": "Well."}


def asked(*blocks: Form) -> Form:
    return {"role": "user", "content": [*blocks] or "How many?"}


def said(*blocks: Form) -> Form:
    return {"role": "assistant", "content": [*blocks]}


THINKS, SPEAKS = [said(THOUGHT, CALL), asked(RESULT)], [said(CALL), asked(RESULT)]


def lost(given: list[Form], sent: list[Form]) -> bool:
    return lost_thinking(reversed(given), reversed(sent))


@pytest.mark.parametrize(
    ("given", "sent", "expected"),
    [
        (THINKS, THINKS, False),
        (THINKS, SPEAKS, True),
        ([*THINKS, *THINKS], [*THINKS, *SPEAKS], True),
        ([*THINKS, *SPEAKS], [*THINKS, *SPEAKS], False),
        ([*THINKS, *THINKS], [*SPEAKS, *THINKS], True),
        (SPEAKS, SPEAKS, True),  # its provider would refuse that anyway
        ([*THINKS, said(TEXT), asked()], [*SPEAKS, said(TEXT), asked()], False),
        ([*THINKS, asked(TEXT)], [*SPEAKS, asked(TEXT)], True),
        (THINKS, [said(HIDDEN, CALL), asked(RESULT)], False),
        ([*THINKS, said(TEXT)], [*SPEAKS, said(TEXT)], False),
    ],
)
def test_only_a_response_in_progress_can_lose_it(
    given: list[Form], sent: list[Form], expected: bool
) -> None:
    assert lost([asked(), *given], [asked(), *sent]) is expected


def test_messages_in_a_row_are_one_step() -> None:
    given = [asked(), said(THOUGHT), said(CALL), asked(RESULT)]
    assert not lost(given, given)
    assert lost(given, [asked(), said(TEXT), said(THOUGHT, CALL), asked(RESULT)])


def test_a_response_that_begins_what_is_sent_counts() -> None:
    assert lost(THINKS, SPEAKS)
    assert not lost(THINKS, [])
    assert not lost([], [asked(TEXT)])
