"""Replies of which a provider gave several at once."""

from typing import Any

import pytest

from tests.threads.support import readings, streams
from tests.threads.support.recordings import entry, har
from tests.threads.support.streams import as_sse, chunk

ASKED, TOLD = "Where does the ferry land?", "At the old pier."
USER = {"role": "user", "content": ASKED}
CHOICES = [
    {"index": at, "message": {"role": "assistant", "content": one}}
    for at, one in enumerate((TOLD, "Nowhere."))
]
STREAM = [
    chunk({"content": "Nowhere."}, index=1),
    *streams.chat(),
]
CANDIDATES = [
    {"content": {"role": "model", "parts": [{"text": one}]}}
    for one in (TOLD, "Nowhere.")
]


@pytest.mark.parametrize(
    "data",
    [
        {"messages": [USER], "choices": CHOICES},
        {"messages": [USER], "response": {"choices": CHOICES}},
        {"request": {"messages": [USER]}, "response": as_sse(*STREAM).decode()},
        {
            "contents": [{"role": "user", "parts": [{"text": ASKED}]}],
            "candidates": CANDIDATES,
        },
        har(
            entry(
                "http://host/chat/completions",
                {"messages": [USER]},
                {"choices": CHOICES},
            )
        ),
        har(
            entry(
                "http://host/v1/completions",
                {"prompt": ASKED},
                {
                    "choices": [
                        {"index": at, "text": one}
                        for at, one in enumerate((TOLD, "No."))
                    ]
                },
            )
        ),
        as_sse(*STREAM),
    ],
)
def test_the_first_is_the_reply_and_the_report_says_how_many_there_were(
    data: Any,
) -> None:
    [found] = readings.read(data)
    assert readings.texts(found)[-1] == TOLD
    [warning] = [one for one in found.warnings if one.code == "other_choices"]
    assert "2 choices" in warning.message
