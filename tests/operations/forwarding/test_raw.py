"""A request that goes on from another one is known by its bytes, and by nothing less."""

import json
import tracemalloc
from typing import Any

import pytest

from operations.forwarding.raw import RawRequest, read_continued, read_raw

FIRST = b'{"model": "a [", "messages": [ {"a": 1} , {"b": "]"}], "append": true}'


def raw(body: bytes) -> RawRequest:
    found = read_raw(body)
    assert found is not None
    return found


def further(first: bytes, body: bytes) -> tuple[list[Any], Any] | None:
    """The messages of a request that goes on from another one, and what is left to be read."""
    beginning = raw(first).beginning
    assert beginning is not None
    found = read_continued(beginning, body)
    if found is None:
        return None
    assert list(found.request.messages) == list(raw(body).messages)
    return [json.loads(one) for one in found.request.messages], json.loads(found.rest)


def test_what_is_new_is_all_that_is_read() -> None:
    body = FIRST.replace(b'"]"}', b'"]"},{"c": [2]} ')
    assert further(FIRST, body) == (
        [{"a": 1}, {"b": "]"}, {"c": [2]}],
        {"model": "a [", "messages": [{"c": [2]}], "append": True},
    )
    assert further(FIRST, FIRST) == (
        [{"a": 1}, {"b": "]"}],
        {"model": "a [", "messages": [], "append": True},
    )


@pytest.mark.parametrize(
    "body",
    [
        FIRST.replace(b"1", b"2"),
        FIRST.replace(b'"]"}', b'"]"},'),
        FIRST.replace(b'"]"}]', b'"]"}'),
        FIRST[:-1],
        FIRST[:-1] + b', "messages": []}',
        FIRST[:-1] + b', "messages": [{"b": "]"}]}',
        FIRST.replace(b'"]"}]', b'"]"},{"c":1}], "messages": [{"c":1}]'),
        FIRST.replace(b'"]"}]', b'"]"},{"c":1}], "messages": 1'),
    ],
)
def test_nothing_else_goes_on_from_a_request(body: bytes) -> None:
    assert further(FIRST, body) is None


def test_where_a_message_stands_is_kept_in_few_bytes() -> None:
    """A process keeps it of all messages of each session that goes on."""
    body = json.dumps({"messages": [{"a": number} for number in range(2_000)]}).encode()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        beginning = raw(body).beginning
        assert beginning is not None
        bounds = beginning.bounds
        del beginning
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert bounds[1_999] == (len(body) - len('{"a": 1999}]}'), len(body) - 2)
    assert after - before < 40 * len(bounds)


def test_messages_are_found_where_they_are_read() -> None:
    inner = b'{"tools": [{"messages": [{"a": 1}]}], "messages": [{"a": 1}]}'
    found = raw(inner)
    assert found.beginning is None
    assert list(found.messages) == [b'{"a": 1}']
    assert bytes(found.run(0, 1)) == b'{"a": 1}'
    assert raw(b'{"messages": []}').beginning is None
    assert read_raw(b'{"messages": 1}') is None
    assert read_raw(b"{") is None


def test_messages_are_cut_out_of_the_body() -> None:
    found = raw(FIRST)
    assert found.messages[1] == b'{"b": "]"}'
    assert found.messages[:1] == [b'{"a": 1}']
    assert bytes(found.run(0, 2)) == b'{"a": 1} , {"b": "]"}'


def test_a_beginning_grows_in_pieces_and_is_put_together_at_last() -> None:
    body, lengths = b'{"messages":[{"n":0}', set()
    beginning = raw(body + b"]}").beginning
    for number in range(1, 300):
        body += b',{"n":%d}' % number
        assert beginning is not None
        found = read_continued(beginning, body + b"]}")
        assert found is not None
        beginning = found.request.beginning
        assert beginning is not None
        assert b"".join(beginning.pieces) == body
        lengths.add(len(beginning.pieces))
    assert max(lengths) < 200
    assert min(lengths) == 1
