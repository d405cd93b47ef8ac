"""Replies that come packed, or in another way than they are to come, read piece by piece."""

import gzip
import json
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
import zstandard

from operations.forwarding.proxy.replies import MAX_BYTES, Reply, ReplyReader
from operations.forwarding.proxy.replies.unpacking import unpacking

REPLY = json.dumps(
    {
        "choices": [
            {
                "message": {"role": "assistant", "content": "Hello."},
                "finish_reason": "stop",
            }
        ]
    }
).encode()
MEMBERS = gzip.compress(REPLY[:40]) + gzip.compress(b"") + gzip.compress(REPLY[40:])


@pytest.mark.parametrize("size", [1, 7, len(MEMBERS) + 9])
@pytest.mark.parametrize("behind", [b"", b"\0\0\0", b"?"])
def test_a_reply_in_several_members_of_gzip_is_read_whole(
    size: int, behind: bytes
) -> None:
    reader = ReplyReader("openai", "application/json", "gzip")
    packed = MEMBERS + behind
    for start in range(0, len(packed), size):
        reader.feed(packed[start : start + size])
    reply = reader.finish(broken=False)
    assert reply.is_whole
    [message] = reply.messages
    assert message.text == "Hello."
    assert reader.unpacked(packed) == REPLY


@pytest.mark.parametrize("kind", ["text/plain", ""])
@pytest.mark.parametrize("size", [1, 9])
def test_json_that_does_not_say_so_is_read_though_a_stream_was_asked_for(
    kind: str, size: int
) -> None:
    reader = ReplyReader("openai", kind, is_stream=True)
    body = b" \n" + REPLY
    for start in range(0, len(body), size):
        reader.feed(body[start : start + size])
    assert not reader.streams
    assert said(reader.finish(broken=False)) == "Hello."


def test_a_reply_of_anthropics_may_be_taken_for_complete_before_its_last_event() -> (
    None
):
    reader = ReplyReader("anthropic", "text/event-stream")
    block = {"type": "text", "text": "Hello."}
    ended = {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}
    events = [
        {"type": "message_start", "message": {"role": "assistant", "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "message_delta", **ended},
    ]
    told = [reader.feed(f"data: {json.dumps(one)}\n\n".encode()) for one in events]
    assert told == [False, False, True]
    assert said(reader.finish(broken=False)) == "Hello."


def read(body: bytes, content_type: str, encoding: str = "", size: int = 7) -> Reply:
    reader = ReplyReader("openai", content_type, encoding)
    for start in range(0, len(body), size):
        reader.feed(body[start : start + size])
    return reader.finish(broken=False)


def said(reply: Reply) -> str:
    [message] = reply.messages
    assert reply.is_whole
    return message.text


@pytest.mark.parametrize("bits", [zlib.MAX_WBITS, -zlib.MAX_WBITS], ids=["zlib", "raw"])
@pytest.mark.parametrize("size", [1, 100])
def test_a_deflated_reply_is_read_with_and_without_its_header(
    bits: int, size: int
) -> None:
    packing = zlib.compressobj(wbits=bits)
    packed = packing.compress(REPLY) + packing.flush() + b"behind"
    assert said(read(packed, "application/json", "deflate", size)) == "Hello."


@pytest.mark.parametrize("size", [1, 100])
def test_a_reply_packed_by_zstandard_is_read(size: int) -> None:
    packed = zstandard.compress(REPLY[:40]) + zstandard.compress(REPLY[40:])
    assert said(read(packed, "application/json", "zstd", size)) == "Hello."


def test_a_reply_that_is_not_packed_as_it_says_is_not_recorded() -> None:
    reply = read(REPLY, "application/json", "zstd")
    assert not reply.messages
    assert "can't be read" in reply.fault


def test_a_frame_of_zstandard_is_unpacked_only_as_far_as_wanted() -> None:
    packed = zstandard.compress(bytes(64 << 20), level=1)
    unpack = unpacking("zstd", 1 << 20)
    assert unpack is not None
    assert 1 << 20 <= len(unpack(packed)) < 16 << 20


def test_what_stands_behind_a_packed_reply_is_not_held() -> None:
    reader = ReplyReader("openai", "application/json", "gzip")
    reader.feed(gzip.compress(REPLY))
    piece = b"?" * (1 << 16)
    tracemalloc.start()
    for _ in range(64):
        reader.feed(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
    assert said(reader.finish(broken=False)) == "Hello."


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("zstd", zstandard.compress),
    ],
    ids=["gzip", "deflate", "zstd"],
)
def test_a_reply_that_swells_is_not_recorded(
    encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(b" " * (MAX_BYTES + 1))
    reply = read(packed, "application/json", encoding, len(packed))
    assert not reply.messages
    assert "too long" in reply.fault


@pytest.mark.parametrize("charset", ["iso-8859-1", "utf-16", "utf-8"])
def test_a_reply_in_another_character_set_is_read(charset: str) -> None:
    body = REPLY.replace(b"Hello", "Hé".encode()).decode().encode(charset)
    kind = f'application/json; charset="{charset}"'
    assert said(read(body, kind)) == "Hé."


def test_a_mark_of_the_byte_order_is_no_part_of_a_reply() -> None:
    assert said(read(b"\xef\xbb\xbf" + REPLY, "application/json")) == "Hello."


def test_a_reply_that_is_no_json_says_so() -> None:
    assert "not JSON" in read(b"<html>", "text/html").fault


DELTAS = [{"role": "assistant", "content": "Hello."}, {}]
EVENTS = [
    "data: "
    + json.dumps(
        {"choices": [{"delta": delta, "finish_reason": None if delta else "stop"}]}
    )
    for delta in DELTAS
]


@pytest.mark.parametrize("gap", ["\r", "\n", "\r\n"])
@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("end", [2, 1, 0], ids=["ended", "line", "nothing"])
def test_a_stream_is_read_whatever_ends_its_lines_and_itself(
    gap: str, size: int, end: int
) -> None:
    body = "\ufeff" + (2 * gap).join(EVENTS) + end * gap
    assert said(read(body.encode(), "text/event-stream", size=size)) == "Hello."


def test_what_is_not_packed_as_it_says_is_told() -> None:
    reply = read(b"no member of gzip", "application/json", "gzip")
    assert not reply.messages
    assert "can't be read" in reply.fault
