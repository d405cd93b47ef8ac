"""Requests to `apply` as bytes, and answers put together of them without reading messages."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from operations.domain.forwarding.splice import Splice

_NULL = msgspec.Raw(b"null")


class _Members(msgspec.Struct):
    """What of a request an answer is put together of; `apply` itself reads the others."""

    messages: list[msgspec.Raw]
    system: msgspec.Raw = _NULL
    active_tags: list[str] | None = None
    append: bool = True


_read = msgspec.json.Decoder(_Members).decode


@dataclass(frozen=True, kw_only=True)
class RawRequest:
    """What is given to `apply`, its messages as the bytes that they came in."""

    body: bytes
    messages: Sequence[bytes]
    system: bytes
    active_tags: frozenset[str] | None
    append: bool

    @cached_property
    def digest(self) -> bytes:
        """Stands for all of the request."""
        return hashlib.sha256(self.body).digest()


def read_raw(body: bytes) -> RawRequest | None:
    """A request by its body; None for one that `apply` may read otherwise, or refuse."""
    try:
        found = _read(body)
    except msgspec.MsgspecError:
        return None
    tags = found.active_tags
    return RawRequest(
        body=body,
        messages=found.messages,
        system=bytes(memoryview(found.system)),
        active_tags=None if tags is None else frozenset(tags),
        append=found.append,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes out in place of a client's messages, and what was done to them."""

    splice: Splice
    report: bytes
    """The other members of the answer, a JSON object that is not empty."""

    def written(self, given: Sequence[bytes]) -> bytes:
        """The answer as JSON, given the client's messages."""
        behind = b"]," + self.report[1:]
        return self.splice.of(given, before=b'{"messages":[', behind=behind)
