"""Replies that come packed, read piece by piece."""

import gzip
import json

import pytest

from operations.forwarding.proxy.replies import ReplyReader

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
    assert reply.message is not None
    assert reply.message.parts[0].text == "Hello."  # type: ignore[union-attr]
    assert reader.unpacked(packed) == REPLY
