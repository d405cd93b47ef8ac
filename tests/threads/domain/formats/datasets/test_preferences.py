"""Rows of Alpaca's, and rows for training by preference."""

from typing import Any

import pytest

from tests.threads.support import readings
from tests.threads.support.agent_specimens import lines
from tests.threads.support.editor_specimens import ALPACA, PREFERENCE
from threads.domain.part import Text
from threads.domain.transcript import Relation

ASKED, GOOD, BAD = "user: Q?", "assistant: good", "assistant: bad"
ROWS: list[dict[str, Any]] = [
    {"prompt": "Q?", "chosen": "good", "rejected": "bad"},
    {"instruction": "Q?", "input": "", "chosen": "good", "rejected": "bad"},
    {
        "conversations": [{"from": "human", "value": "Q?"}],
        "chosen": {"from": "gpt", "value": "good"},
        "rejected": {"from": "gpt", "value": "bad"},
    },
    {
        "prompt": "Q?",
        "chosen": [
            {"role": "user", "content": "Q?"},
            {"role": "assistant", "content": "good"},
        ],
        "rejected": [
            {"role": "user", "content": "Q?"},
            {"role": "assistant", "content": "bad"},
        ],
    },
    {
        "chosen_messages": [
            {"role": "user", "content": [{"type": "text", "value": "Q?"}]},
            {"role": "assistant", "content": [{"type": "text", "value": "good"}]},
        ],
        "rejected_messages": [
            {"role": "user", "content": [{"type": "text", "value": "Q?"}]},
            {"role": "assistant", "content": [{"type": "text", "value": "bad"}]},
        ],
    },
    {
        "chosen": "\n\nHuman: Q?\n\nAssistant: good",
        "rejected": "\n\nHuman: Q?\n\nAssistant: bad",
    },
]


def test_a_row_of_alpaca_s_is_a_conversation() -> None:
    first, second = readings.read([ALPACA, {"instruction": "Hi", "output": ""}])
    assert first.format == "alpaca"
    assert readings.told(first) == [
        "system: You mend lamps.",
        "user: Hello.",
        "assistant: Good morning.",
        "user: Which lamp is broken?\n\nThere are two lamps.",
        "assistant: The second one.",
        "source",
    ]
    assert readings.told(second) == ["user: Hi"]


def test_a_history_of_other_things_is_passed_over() -> None:
    [found] = readings.read([{**ALPACA, "history": [7, [None, "x"]]}])
    assert readings.told(found)[1] == "assistant: x"


@pytest.mark.parametrize("row", ROWS)
def test_the_chosen_answer_is_shown_and_the_rejected_one_a_branch(
    row: dict[str, Any],
) -> None:
    chosen, rejected = readings.read(lines([row, {"chosen": None, "rejected": None}]))
    assert chosen.format == rejected.format == "preferences"
    assert readings.told(chosen) == [ASKED, GOOD]
    assert readings.told(rejected) == [ASKED, BAD]
    assert chosen.title == "Q?"
    assert rejected.external_id == f"{chosen.external_id}/rejected"
    assert rejected.parent is not None
    assert (rejected.parent.external_id, rejected.parent.relation) == (
        chosen.external_id,
        Relation.BRANCH,
    )
    assert rejected.parent.at == 1


def test_other_columns_are_events_of_the_chosen_one() -> None:
    chosen, rejected = readings.read([{**PREFERENCE, "score_chosen": 8.125}])
    assert readings.events(chosen) == ["score_chosen"]
    assert readings.events(rejected) == []


def test_answers_that_are_alike_are_one() -> None:
    [found] = readings.read([{"prompt": "Q?", "chosen": "good", "rejected": "good"}])
    assert readings.told(found) == [ASKED, GOOD]


def test_a_rejected_answer_alone_has_no_parent() -> None:
    [found] = readings.read([{"chosen": "", "rejected": "bad", "prompt": [7, {}]}])
    assert (found.parent, readings.parts(found)) == (None, [(Text("bad"),)])
    assert readings.events(found) == ["turn", "turn"]
    assert [one.code for one in found.warnings] == ["message_not_understood"] * 2
