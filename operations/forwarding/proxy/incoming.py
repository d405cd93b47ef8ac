"""A client's request as it came, and who asks whom for what with it."""

import uuid
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import zstandard

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Invalid
from contextstudio.accounts.models import Project
from contextstudio.accounts.responses import read_json
from operations.forwarding.toolbox import OfferedTool
from operations.forwarding.upstreams.services import Target

from .bodies import ForwardedBody
from .headers import AGENTS, CONVERSATION, PARENT, SESSION, TAGS, TURN, Header
from .replies import MOST_BYTES
from .replies.unpacking import unpacking
from .routes import RequestKind, Route

_ENCODING = b"content-encoding"
MOST_NAME = 255
_TITLE = "thread_title"


class CannotBeForwarded(DomainError):
    """A body that comes packed, in which nothing can be found."""

    status = 415
    default_code = "body_encoded"


class UnpackedTooLarge(DomainError):
    """A body that is small only while it is packed."""

    status = 413
    default_code = "body_too_large"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A client's request, read to its end."""

    method: str
    query: bytes
    headers: Sequence[Header]
    """Their names are in lower case."""
    body: bytes

    def header(self, name: bytes) -> str:
        """The value of a header; empty where it isn't sent."""
        value = next((value for key, value in self.headers if key == name), b"")
        return _text(value).strip()

    def unpacked(self) -> "Incoming":
        """The same, a body that comes packed unpacked: so it is read, and so it goes out.

        Raises CannotBeForwarded for a packing that is not known, and what isn't packed so.
        """
        encoding = self.header(_ENCODING).lower()
        if encoding in ("", "identity"):
            return self
        try:
            body = _unpacked(encoding, self.body)
        except (zlib.error, zstandard.ZstdError):
            body = None
        if body is None:
            raise CannotBeForwarded(
                "Send the body as plain JSON, or compressed as its Content-Encoding says: gzip, "
                "deflate or zstd."
            )
        if len(body) > MOST_BYTES:
            raise UnpackedTooLarge(
                f"A request to this address has at most {MOST_BYTES >> 20} MB, "
                "uncompressed too."
            )
        headers = [one for one in self.headers if one[0] != _ENCODING]
        return replace(self, headers=headers, body=body)

    def first_of(self, names: Iterable[bytes], most: int) -> bytes:
        """The first of some headers that says anything; empty too where that is too long."""
        given = dict(reversed(self.headers))
        found = next((value for name in names if (value := given.get(name))), b"")
        return found if len(found) <= most else b""


def _unpacked(encoding: str, body: bytes) -> bytes | None:
    """A body, of one that is too long no more than is needed to see it; None: not known."""
    if encoding == "zstd":
        reader = zstandard.ZstdDecompressor().stream_reader(body)
        return reader.read(MOST_BYTES + 1)
    unpack = unpacking(encoding, MOST_BYTES + 1)
    return unpack(body) if unpack else None


def _text(value: bytes) -> str:
    """A header's value: in UTF-8, as most clients write it, else in Latin-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


class Asked(NamedTuple):
    """Who asks for what."""

    caller: Caller
    project: Project
    target: Target
    route: Route
    incoming: Incoming
    tools: Sequence[OfferedTool] = ()
    """Of ours that it is to get."""
    goes_on: uuid.UUID | None = None
    """The session, where calls were answered since the client asked."""
    may_call: bool = True
    """Whether the model may still call tools."""

    @property
    def is_recorded(self) -> bool:
        """Whether it goes on with a conversation, and isn't only about one."""
        return self.route.kind is RequestKind.REPLY

    def unrecorded(self) -> "Asked":
        """The same, of which nothing is to be recorded."""
        route = replace(self.route, kind=RequestKind.COUNT)
        return self._replace(route=route)

    @property
    def name(self) -> str:
        """What the client calls the session; empty where it doesn't say."""
        return self.route.external_id or self.incoming.header(SESSION)

    def check_name(self) -> None:
        """Raises Invalid for a name that no session can have."""
        if len(self.name) > MOST_NAME:
            raise Invalid(
                f"A session's name has at most {MOST_NAME} characters.",
                at=["X-Session-Id"],
            )
        if any(character < " " for character in self.name):
            raise Invalid(
                "A session's name is one line of text, without control characters.",
                at=["X-Session-Id"],
            )

    @property
    def _called(self) -> bytes:
        return self.incoming.first_of(CONVERSATION, MOST_NAME)

    @property
    def agent(self) -> bytes:
        """Which sub-agent of a conversation asks; empty where its own agent does, as most do."""
        given = self.incoming.first_of(AGENTS, MOST_NAME)
        is_told = self._called and given != self._called and not self.goes_on
        return given if is_told else b""

    @property
    def names_session(self) -> bool:
        """Whether it is of the session that it names."""
        return bool(self.name) and not self.agent

    def conversation(self, body: ForwardedBody | None = None) -> bytes:
        """What the client calls the conversation for itself; empty where it names a session.

        A sub-agent's is called by its conversation, or the session that is named, and the agent.
        """
        if self.agent:
            return (self.name.encode() or self._called) + b"\0" + self.agent
        if self.name or self.goes_on:
            return b""
        return self._called or (body.conversation if body else b"")

    @property
    def parent(self) -> tuple[str, bytes]:
        """Whom a sub-agent works for: a session's name, or what the client calls a conversation."""
        if self.agent:
            return self.name, self._called
        return self.incoming.header(PARENT) if self.name else "", b""

    @property
    def asks_for_title(self) -> bool:
        """Whether it is Codex that asks for a title, in a thread that nothing else links."""
        try:
            turn = read_json(self.incoming.header(TURN).encode() or b"null")
        except Invalid:
            return False
        return isinstance(turn, dict) and turn.get("thread_source") == _TITLE

    @property
    def tags(self) -> frozenset[str] | None:
        """The tags that are active for this request alone; None: the session's."""
        if not any(name == TAGS for name, _ in self.incoming.headers):
            return None
        words = (word.strip() for word in self.incoming.header(TAGS).split(","))
        return frozenset(word for word in words if word)

    def model(self, body: ForwardedBody) -> str:
        """The model that is asked."""
        return self.target.model or self.route.model or body.model
