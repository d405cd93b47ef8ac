"""What the hooks for other libraries share: how they fail, and the sessions that they know."""

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, Literal, TypeVar

from .errors import Conflict, NotFound, StudioError

Failing = Literal["closed", "open"]
"""What becomes of a request that ContextStudio can't rewrite: it is refused, or sent as it is.

Sent as it is, it holds what redactions would have masked.
"""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_LONGEST_NAME = 255
_log = logging.getLogger("contextstudio_client")


class Recent(Generic[K, V]):
    """The values that were used last; older ones are forgotten."""

    def __init__(self, most: int = 1000) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The value; None where there is none."""
        return self._values.get(key)

    def keep(self, key: K, value: V) -> None:
        """Remember a value as the one used last."""
        self._values.pop(key, None)
        self._values[key] = value
        while len(self._values) > self._most:
            self._values.popitem(last=False)

    def take(self, key: K) -> V | None:
        """The value, forgotten; None where there is none."""
        return self._values.pop(key, None)


def external_id(*words: object) -> str:
    """A session's name of these words; one that is too long is named by its hash.

    What stands before the last word has its colons written otherwise, so that the words of two
    names differ wherever the names do.
    """
    said = [str(word) for word in words if word]
    owners = [one.replace("%", "%25").replace(":", "%3A") for one in said[:-1]]
    name = ":".join([*owners, *said[-1:]])
    if len(name) <= _LONGEST_NAME and name.isprintable():
        return name
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def let_pass(error: StudioError, failing: Failing) -> None:
    """Say that a request is sent as it is; raise the error where it is to be refused."""
    if failing == "closed":
        raise error
    _log.warning("A request is sent without ContextStudio: %s", error)


def not_recorded(error: StudioError) -> None:
    """Say that a reply wasn't recorded: it is paid for and goes on to who asked.

    Where the session has grown meanwhile there is nothing to say: the next request has brought the
    reply already. Else the next one will.
    """
    if not isinstance(error, Conflict):
        _log.warning("A reply is not recorded yet: %s", error)


def is_gone(error: StudioError) -> bool:
    """Whether the session isn't there any more, so that it is to be looked up anew."""
    return isinstance(error, NotFound)
