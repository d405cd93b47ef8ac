"""The pieces of a request that goes out: tools, the system prompt beside the messages, messages."""

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
    """Something that is sent, as its bytes, and the messages of the thread it was made of."""

    kind: str
    """One of `SentPiece.Kind`."""
    body: bytes
    keys: tuple[Key, ...]
    tokens: int

    @property
    def digest(self) -> bytes:
        """Stands for its bytes and for what it was made of."""
        found = hashlib.sha256(self.kind.encode())
        found.update(",".join(self.keys).encode() + _SEPARATOR)
        found.update(self.body)
        return found.digest()

    def packed(self) -> "PackedPiece":
        """The same as it is stored."""
        keys = json.dumps(self.keys)
        return PackedPiece(self.digest, self.kind, keys, self.tokens, packed(self.body))


class PackedPiece(NamedTuple):
    """Something that is sent, as its row has it."""

    digest: bytes
    kind: str
    keys: str
    """As JSON."""
    tokens: int
    content: bytes


def message_piece(
    message: SentMessage, run: Callable[[int, int], Raw]
) -> OutgoingPiece:
    """A message that goes out; `run` gives the client's."""
    piece, keys, tokens = message
    body = piece if isinstance(piece, bytes) else bytes(run(*piece))
    return OutgoingPiece(SentPiece.Kind.MESSAGE, body, tuple(keys), tokens)


def member_piece(
    kind: SentPiece.Kind, value: object, keys: Sequence[Key], tokens: int
) -> OutgoingPiece:
    """What stands in a member of its own: the tools, or the system prompt."""
    return OutgoingPiece(kind, dump(value), tuple(keys), tokens)
