"""A response in progress must begin with thinking."""

from typing import Any

import pytest

from operations.domain.providers.progress import lacks_thinking

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


def lacks(*sent: Form) -> bool:
    return lacks_thinking(reversed(sent))


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (THINKS, False),
        (SPEAKS, True),
        ([*THINKS, *SPEAKS], False),
        ([*SPEAKS, *THINKS], True),
        ([*SPEAKS, said(TEXT), asked()], False),
        ([*SPEAKS, asked(TEXT)], True),
        ([said(HIDDEN, CALL), asked(RESULT)], False),
        ([*SPEAKS, said(TEXT)], False),
    ],
)
def test_only_a_response_in_progress_can_lack_it(
    sent: list[Form], expected: bool
) -> None:
    assert lacks(asked(), *sent) is expected


def test_messages_in_a_row_are_one_step() -> None:
    assert not lacks(asked(), said(THOUGHT), said(CALL), asked(RESULT))
    assert lacks(asked(), said(TEXT), said(THOUGHT, CALL), asked(RESULT))


def test_a_response_that_begins_what_is_sent_counts() -> None:
    assert lacks(*SPEAKS)
    assert not lacks()
    assert not lacks(asked(TEXT))
