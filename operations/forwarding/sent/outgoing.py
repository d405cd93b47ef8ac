"""The pieces of a request that goes out: tools, a separate system prompt, messages."""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

from contextstudio.accounts.responses import dump
from operations.domain.forwarding.sent import SentMessage
from operations.domain.forwarding.splice import Raw
from operations.domain.tree.key import Key
from operations.models import SentPiece

from .packing import packed

_SEPARATOR = b"\0"


class OutgoingPiece(NamedTuple):
    """A piece to send: its bytes, and the keys of the messages it was made from."""

    kind: str
    """One of `SentPiece.Kind`."""
    body: bytes
    keys: tuple[Key, ...]
    tokens: int

    @property
    def digest(self) -> bytes:
        """Identifies its bytes and what it was made from."""
        found = hashlib.sha256(self.kind.encode())
        found.update(",".join(self.keys).encode() + _SEPARATOR)
        found.update(self.body)
        return found.digest()

    def packed(self) -> "PackedPiece":
        """The piece as it is stored."""
        keys = json.dumps(self.keys)
        return PackedPiece(self.digest, self.kind, keys, self.tokens, packed(self.body))


class PackedPiece(NamedTuple):
    """A piece in the form of its database row."""

    digest: bytes
    kind: str
    keys: str
    """As JSON."""
    tokens: int
    content: bytes


def message_piece(
    message: SentMessage, run: Callable[[int, int], Raw]
) -> OutgoingPiece:
    """The piece of a message; `run` returns the client's messages."""
    piece, keys, tokens = message
    body = piece if isinstance(piece, bytes) else bytes(run(*piece))
    return OutgoingPiece(SentPiece.Kind.MESSAGE, body, tuple(keys), tokens)


def member_piece(
    kind: SentPiece.Kind, value: object, keys: Sequence[Key], tokens: int
) -> OutgoingPiece:
    """The piece of a separate member: the tools, or the system prompt."""
    return OutgoingPiece(kind, dump(value), tuple(keys), tokens)
