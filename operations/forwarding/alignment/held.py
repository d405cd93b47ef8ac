"""The messages of a session in the form that requests are compared with."""

from collections.abc import Sequence
from functools import cached_property

from operations.domain.log.log import Log
from operations.domain.log.operation import messages_of
from operations.domain.tree.key import Key, original_index, parse_made_key
from operations.log.selectors import load_leaves
from operations.messages.reader import mask_originals
from threads.domain.body import digest
from threads.domain.formats.requests import SYSTEM
from threads.domain.message import Message, Role
from threads.models import Session
from threads.store.originals import Original, load_digests, load_recorded_at

_ROWS = 500
"""How many originals are read at once."""


class HeldMessages:
    """The messages of a session under some keys, whose contents are read only when needed."""

    def __init__(
        self,
        session: Session,
        log: Log,
        keys: Sequence[Key],
        known: "HeldMessages | None" = None,
    ) -> None:
        """`known` holds the same originals and may have been read already."""
        self.keys = keys
        self._session, self._log, self._known = session, log, known
        self._rows: dict[int, Original] = {}
        self._count = 1

    @cached_property
    def digests(self) -> list[bytes]:
        if not self.keys:
            return []
        indexes = [original_index(key) for key in self.keys]
        start = 0
        if self._known is not None:
            originals = self._known.digests
        else:
            start = min((one for one in indexes if one is not None), default=0)
            originals = load_digests(self._session, start)
        return [
            digest((made := self._made(key)).role, made.parts)
            if index is None
            else originals[index - start]
            for key, index in zip(self.keys, indexes, strict=True)
        ]

    @cached_property
    def roles(self) -> list[str]:
        leaves = load_leaves(self._session)
        return [
            self._made(key).role
            if (index := original_index(key)) is None
            else leaves[index].role
            for key in self.keys
        ]

    @property
    def lead(self) -> int:
        """How many system messages are at the top."""
        roles = self.roles
        return next(
            (at for at, role in enumerate(roles) if role not in SYSTEM), len(roles)
        )

    def readings(self, at: int) -> list[Message]:
        key = self.keys[at]
        index = original_index(key)
        if index is None:
            made = self._made(key)
            masked = self._log.masks.mask_parts(key, made.parts)
            return [made, Message(role=made.role, parts=masked)]
        if index not in self._rows:
            behind = map(original_index, self.keys[at : at + self._count])
            wanted = [one for one in behind if one is not None]
            self._rows = load_recorded_at(self._session, wanted)
            self._count = _ROWS
        original = self._rows[index]
        masked = mask_originals(self._session, {index: original.parts})[index]
        return [
            Message(role=original.role, parts=parts)
            for parts in (original.parts, masked)
        ]

    def _made(self, key: Key) -> Message:
        number, k = parse_made_key(key) or (0, 0)
        made = messages_of(self._log.edits[number].edit)[k or 0]
        return Message(role=Role(made.role), parts=made.parts)
