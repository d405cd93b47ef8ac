"""Shared by the hooks for other libraries: how they fail, sessions, what any model takes."""

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar

from .errors import Conflict, NotFound, StudioError

Failing = Literal["closed", "open"]
"""What to do with a request that ContextStudio can't rewrite: refuse it, or send it unchanged.

An unchanged request contains the text that redactions would have masked."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_MAX_NAME_LENGTH = 255
_PROMPT = ("system", "developer")
"""The roles of messages that are no part of the conversation."""
_OPENER = {"role": "user", "content": "[The conversation so far follows.]"}
"""Stands before an assistant's message that an operation brings to the beginning."""
_log = logging.getLogger("contextstudio_client")


class Recent(Generic[K, V]):
    """A cache of the values used last; older ones are dropped."""

    def __init__(self, most: int = 1000) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The value, or None."""
        return self._values.get(key)

    def keep(self, key: K, value: V) -> None:
        """Store a value as the most recent one."""
        self._values.pop(key, None)
        self._values[key] = value
        while len(self._values) > self._most:
            self._values.popitem(last=False)

    def take(self, key: K) -> V | None:
        """Remove and return the value, or None."""
        return self._values.pop(key, None)


def external_id(*words: object) -> str:
    """Build a session's name from words; a name that is too long is replaced by its hash.

    In all words but the last, colons are escaped, so that different words always make different
    names.
    """
    said = [str(word) for word in words if word]
    owners = [one.replace("%", "%25").replace(":", "%3A") for one in said[:-1]]
    name = ":".join([*owners, *said[-1:]])
    if len(name) <= _MAX_NAME_LENGTH and name.isprintable():
        return name
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def let_pass(error: StudioError, failing: Failing) -> None:
    """Log that a request is sent unchanged, or raise the error if it must be refused."""
    if failing == "closed":
        raise error
    _log.warning("A request is sent without ContextStudio: %s", error)


def not_recorded(error: StudioError) -> None:
    """Log that a reply wasn't recorded; it was paid for, and is passed on to the caller.

    If the session has grown meanwhile, nothing is logged: the next request has already brought the
    reply. Otherwise the next one will.
    """
    if not isinstance(error, Conflict):
        _log.warning("A reply is not recorded yet: %s", error)


def is_gone(error: StudioError) -> bool:
    """Whether the session no longer exists, so that it must be looked up again."""
    return isinstance(error, NotFound)


def with_user_first(
    messages: Sequence[dict[str, Any]], given: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The rewritten messages in OpenAI's form with a user's first, as in those given.

    OpenAI takes them in any order, but the libraries send them to other providers too, most of
    which refuse a conversation that doesn't begin with its user.
    """
    roles = [message.get("role") for message in messages]
    at = next((n for n, role in enumerate(roles) if role not in _PROMPT), len(roles))
    began = next((one["role"] for one in given if one.get("role") not in _PROMPT), "")
    if began != "user" or roles[at : at + 1] == ["user"]:
        return [*messages]
    return [*messages[:at], dict(_OPENER), *messages[at:]]
