"""The beginnings of the last requests of sessions, by which the next ones are known."""

import uuid
from collections.abc import Sequence
from typing import Any, overload

from contextstudio.accounts.responses import read_json
from operations.log.cache import Cache
from threads.models import Session

from .raw import Beginning, Further, RawRequest, read_further

MOST_BYTES = 512 << 20
"""How much memory all beginnings may take."""
_beginnings: Cache[Beginning] = Cache(
    lambda beginning: beginning.length + 100 * len(beginning.bounds), MOST_BYTES
)
Form = dict[str, Any]


def keep(session: Session, raw: RawRequest) -> None:
    """Know a request again by its beginning, all of whose messages the session holds by now."""
    if raw.beginning is not None:
        _beginnings.keep(session.pk, raw.beginning)


def find(session_id: uuid.UUID, body: bytes) -> Further | None:
    """What is new of a request, if it begins as the last one did."""
    beginning = _beginnings.get(session_id)
    return None if beginning is None else read_further(beginning, body)


class Messages(Sequence[Form]):
    """The messages of a request, of which those that are known are read only if asked for."""

    def __init__(self, raw: RawRequest, new: Sequence[Form]) -> None:
        self._raw, self._new = raw, new
        self._known = len(raw.messages) - len(new)

    def __len__(self) -> int:
        return len(self._raw.messages)

    @overload
    def __getitem__(self, place: int) -> Form: ...

    @overload
    def __getitem__(self, place: slice) -> list[Form]: ...

    def __getitem__(self, place: int | slice) -> Form | list[Form]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        if at >= self._known:
            return self._new[at - self._known]
        form: Form = read_json(self._raw.messages[at])
        return form
