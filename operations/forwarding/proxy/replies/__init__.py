"""Reads a provider's reply while it is passed on to the client.

A reader is fed the bytes of a reply's body and reconstructs the reply as if it had come in one
piece (`threads.domain.formats.io.streams`), in a form that the readers of transcripts know. It
never raises: what can't be read is passed on all the same.
"""

import logging
import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io.streams import FORMS
from threads.domain.formats.io.streams.stream import (
    JSONObject,
    ReplyTokens,
    parse,
    parse_sse,
)
from threads.domain.formats.traffic.replies import read_reply
from threads.domain.message import Message

from .faults import fault_in
from .unpacking import unpacking

logger = logging.getLogger(__name__)

MAX_BYTES = 64 << 20
"""The most bytes read of a reply; what follows is passed on and not recorded."""

_CHARSET = re.compile(
    r"charset=\"?(iso-8859-\d+|windows-125\d|us-ascii|utf-(?:16|32)(?:le|be)?)\b"
)
"""Character sets that JSON should not have, and sometimes has."""
_BOM = b"\xef\xbb\xbf"
_NO_JSON = "The reply was passed on but can't be read: it is not JSON."


class Reply(NamedTuple):
    """A provider's reply."""

    messages: Sequence[Message]
    """Several if a tool that the provider runs answered in between."""
    tokens: ReplyTokens
    model: str
    is_whole: bool
    """Whether it reached the end that its provider marks."""
    fault: str = ""
    """What went wrong, in the provider's words, or why the reply can't be read."""
    said: Sequence[JSONObject] = ()
    """The reply as messages of the next request, in its provider's form."""
    id: str = ""
    """The provider's id of the reply."""
    is_over: bool = False
    """Whether its provider will add nothing more to it, as far as can be seen."""
    others: Sequence[Message] = ()
    """Alternative replies, any of which its client may continue from."""


class ReplyReader:
    """Reads one reply."""

    def __init__(
        self,
        form: str,
        content_type: str,
        encoding: str = "",
        *,
        is_list: bool = False,
        is_stream: bool = False,
        secrets: Sequence[str] = (),
    ) -> None:
        """`is_list`: a stream that has no events is a list of responses.

        `is_stream`: a stream was asked for, so what isn't JSON is one: some servers send events
        under another type, and clients read them all the same.
        `secrets` are hidden in errors that repeat them.
        """
        self._form, self._assembler = form, FORMS[form]()
        is_named = content_type.startswith("text/event-stream")
        self.has_events = is_named or (is_stream and "json" not in content_type)
        self._may_be_json = self.has_events and not is_named
        """Whether only the first bytes will tell if these are events or JSON."""
        self.streams = self.has_events or is_list
        self._unpack = unpacking(encoding, MAX_BYTES + 1)
        self._charset = _CHARSET.search(content_type)
        self._encoding = encoding
        self._events = parse_sse()
        next(self._events)
        self._whole = bytearray()
        self._left = MAX_BYTES
        self._is_readable = self._unpack is not None
        self._fault, self._secrets = "", secrets
        self._told = ""
        """The provider's error message."""
        if self._unpack is None:
            self._fault = (
                "The reply was passed on but can't be read: "
                f"it is compressed ({encoding})."
            )

    def feed(self, chunk: bytes) -> bool:
        """Read the next chunk; returns whether a client may now consider the reply complete.

        LiteLLM continues once it knows why an Anthropic model stopped.
        """
        if not self._is_readable or self._unpack is None:
            return False
        try:
            read = self._unpack(chunk)
            if self._may_be_json and (start := read.lstrip()):
                self._may_be_json = False
                if start[:1] in b"{[":
                    self.has_events = self.streams = False
            self._left -= max(len(read), len(chunk))
            if self._left < 0:
                self._is_readable = False
                self._fault = "The reply was passed on but is too long to be recorded."
            elif self.has_events:
                for event in self._events.send(read):
                    self._assembler.take(event)
                    self._told = self._told or fault_in(event, self._secrets)
            else:
                self._whole += read
        except Exception:
            logger.exception("A reply can't be read")
            self._is_readable = False
            self._fault = "The reply was passed on but can't be read."
        return self._assembler.is_whole or self._assembler.has_stopped

    def unfinished_reply(self) -> Reply | None:
        """What is known of an unfinished reply; None if it has no id yet."""
        known = self._assembler
        if not known.id:
            return None
        return Reply((), known.tokens, known.model, is_whole=False, id=known.id)

    def finish(self, *, broken: bool) -> Reply:
        """The reply, complete or not."""
        try:
            return self._finish(broken)
        except Exception:
            logger.exception("A reply can't be read")
            return Reply((), ReplyTokens(), "", False)

    def _finish(self, broken: bool) -> Reply:
        if self._whole and self.streams:
            self._assembler.take_list(self._whole.decode("utf-8", "replace"))
        elif self._whole:
            self._take_whole(bytes(self._whole), broken)
        elif self.has_events and self._is_readable:
            # The last event may lack its blank line.
            for event in self._events.send(b"\n\n"):
                self._assembler.take(event)
                self._told = self._told or fault_in(event, self._secrets)
        is_well = self._is_readable and not broken and not self._told
        is_whole = is_well and self._assembler.is_ended
        try:
            whole = self._assembler.whole()
            # Calls without an id get one that is unique in a session.
            calls = f"call_{secrets.token_hex(4)}_"
            messages = read_reply(self._form, whole, calls) if whole else []
            beside = self._assembler.others() if messages else ()
            others = [one for each in beside for one in read_reply(self._form, each)]
        except Invalid as refused:
            logger.warning("A reply isn't understood: %s", refused.message)
            messages, others = [], []
        if not is_whole:
            messages = _partial(messages)
        said = self._assembler.said() if messages else ()
        return Reply(
            messages=messages,
            tokens=self._assembler.tokens,
            model=self._assembler.model,
            is_whole=is_whole,
            fault=self._told or self._fault or self._assembler.fault,
            said=said,
            id=self._assembler.id,
            is_over=self._assembler.is_whole,
            others=others,
        )

    def _take_whole(self, whole: bytes, broken: bool) -> None:
        if self._charset:
            whole = whole.decode(self._charset[1], "replace").encode()
        whole = whole.removeprefix(_BOM)
        self._told, found = fault_in(whole, self._secrets), parse(whole)
        if isinstance(found, dict | list):
            self._assembler.take_whole(found)
        elif not broken:
            self._fault = self._fault or _NO_JSON

    def unpacked(self, body: bytes) -> bytes:
        """A complete body that could be read, uncompressed."""
        unpack = unpacking(self._encoding, MAX_BYTES + 1)
        return unpack(body) if unpack else body


def _partial(messages: list[Message]) -> list[Message]:
    """The messages without empty ones; the last is marked as broken off."""
    said = [message for message in messages if message.parts]
    return [*said[:-1], *(replace(last, partial=True) for last in said[-1:])]
