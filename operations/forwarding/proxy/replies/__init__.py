"""What a provider's reply says, read beside the client as it goes by.

A reader is fed the bytes of a reply's body and puts together what it would be had it come at once
(`threads.domain.formats.io.streams`), which the readers of transcripts know. It never raises: what
can't be read is passed on all the same.
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
    sse,
)
from threads.domain.formats.traffic.replies import read_reply
from threads.domain.message import Message

from .faults import fault_in
from .unpacking import unpacking

logger = logging.getLogger(__name__)

MOST_BYTES = 64 << 20
"""Of a reply: what comes behind them is passed on and not recorded."""

_CHARSET = re.compile(
    r"charset=\"?(iso-8859-\d+|windows-125\d|us-ascii|utf-(?:16|32)(?:le|be)?)\b"
)
"""A character set that JSON is not to have, and sometimes has."""
_BOM = b"\xef\xbb\xbf"
_NO_JSON = "The reply was passed on but can't be read: it is not JSON."


class Reply(NamedTuple):
    """What came back."""

    messages: Sequence[Message]
    """Several where a tool that the provider runs has answered in between."""
    tokens: ReplyTokens
    model: str
    is_whole: bool
    """Whether it came to the end that its provider puts to it."""
    fault: str = ""
    """What went wrong, as its provider says; or why it can't be read, where it can't."""
    said: Sequence[JSONObject] = ()
    """What it says as messages of a next request, in its provider's form."""
    id: str = ""
    """What its provider calls it."""
    is_over: bool = False
    """Whether its provider adds nothing to it any more, as far as that is seen."""
    others: Sequence[Message] = ()
    """The replies that came beside it, of which its client may go on from any."""


class ReplyReader:
    """Reads one reply."""

    def __init__(
        self,
        form: str,
        content_type: str,
        encoding: str = "",
        *,
        is_list: bool = False,
        secrets: Sequence[str] = (),
    ) -> None:
        """`is_list`: a stream that isn't of events is a list of responses.

        `secrets` are not told of an error that repeats them.
        """
        self._form, self._assembler = form, FORMS[form]()
        self.has_events = content_type.startswith("text/event-stream")
        self.streams = self.has_events or is_list
        self._unpack = unpacking(encoding, MOST_BYTES + 1)
        self._charset = _CHARSET.search(content_type)
        self._encoding = encoding
        self._events = sse()
        next(self._events)
        self._whole = bytearray()
        self._left = MOST_BYTES
        self._is_readable = self._unpack is not None
        self._fault, self._secrets = "", secrets
        self._told = ""
        """What the provider says went wrong."""
        if self._unpack is None:
            self._fault = (
                "The reply was passed on but can't be read: "
                f"it is compressed ({encoding})."
            )

    def feed(self, chunk: bytes) -> bool:
        """Take what came next; whether a client may take the reply for complete by it.

        LiteLLM goes on once it knows why a model of Anthropic's stopped.
        """
        if not self._is_readable or self._unpack is None:
            return False
        try:
            read = self._unpack(chunk)
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

    def begun(self) -> Reply | None:
        """What is known of a reply that goes on; None where it has no id yet."""
        known = self._assembler
        if not known.id:
            return None
        return Reply((), known.tokens, known.model, is_whole=False, id=known.id)

    def finish(self, *, broken: bool) -> Reply:
        """What came back, whole or not."""
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
            # The last event may lack the empty line behind it.
            for event in self._events.send(b"\n\n"):
                self._assembler.take(event)
                self._told = self._told or fault_in(event, self._secrets)
        is_well = self._is_readable and not broken and not self._told
        is_whole = is_well and self._assembler.is_ended
        try:
            whole = self._assembler.whole()
            # Calls that bring no id get one that no other of a session has.
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
        """The whole of a body that could be read, as it was before it was packed."""
        unpack = unpacking(self._encoding, MOST_BYTES + 1)
        return unpack(body) if unpack else body


def _partial(messages: list[Message]) -> list[Message]:
    """The messages, the last as one that broke off; none of which nothing was said."""
    said = [message for message in messages if message.parts]
    return [*said[:-1], *(replace(last, partial=True) for last in said[-1:])]
