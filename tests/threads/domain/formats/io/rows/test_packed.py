"""Rows whose requests and responses are texts of JSON, and pages of them."""

import io
import json
from typing import Any

import pytest

from tests.threads.support import readings
from threads.domain import formats
from threads.domain.formats.io.rows import packed

ASKED = {"role": "user", "content": "Where does the night ferry land?"}
SAID = {"role": "assistant", "content": "At the old pier."}
ROW = {
    "request_id": "r-1",
    "spend": 0.1,
    "messages": [ASKED],
    "response": {"choices": [{"message": SAID}]},
}
SPENT = ROW | {
    "request_id": "r-2",
    "messages": {},
    "proxy_server_request": {"messages": [ASKED]},
}


def as_texts(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: json.dumps(value) if isinstance(value, (dict, list)) else value
        for name, value in row.items()
    }


def texts(data: bytes) -> list[list[str]]:
    assert formats.is_packed(data)
    rows = b"".join(packed.lines(io.BytesIO(data)))
    return [readings.texts(found) for found in readings.read(rows)]


@pytest.mark.parametrize(
    "data",
    [
        json.dumps([as_texts(ROW), as_texts(SPENT)]),
        json.dumps(as_texts(ROW)) + "\n" + json.dumps(as_texts(SPENT)),
        json.dumps({"data": [as_texts(ROW), as_texts(SPENT)], "total": 2}),
        json.dumps({"data": [ROW, SPENT], "total": 2}, indent=1),
    ],
    ids=["list", "lines", "page", "page of objects"],
)
def test_rows_of_a_log_are_read_however_they_are_given(data: str) -> None:
    assert texts(data.encode()) == 2 * [[ASKED["content"], SAID["content"]]]


def test_one_row_by_itself_is_read() -> None:
    for row in (ROW, SPENT):
        assert texts(json.dumps(as_texts(row)).encode()) == [
            [ASKED["content"], SAID["content"]]
        ]


def test_what_can_not_be_read_of_such_rows_stays_as_it_is() -> None:
    data = (
        json.dumps(as_texts(ROW)).encode() + b"\n[1,\n3\n" + json.dumps(SPENT).encode()
    )
    first, *others = packed.lines(io.BytesIO(data))
    assert json.loads(first) == ROW
    assert others[:2] == [b"[1,\n", b"3\n"]


@pytest.mark.parametrize(
    "data",
    [
        json.dumps([ROW, SPENT]),
        json.dumps({"data": [{"request_id": "r"}]}),
        json.dumps({"messages": [ASKED], "response": '{"pier": "old"}'}),
        json.dumps({"note": json.dumps([ASKED])}),
        json.dumps({"response": "{At the old pier.}"}),
        "request_id",
        "",
    ],
)
def test_other_files_are_read_as_they_are(data: str) -> None:
    assert not formats.is_packed(data.encode())
