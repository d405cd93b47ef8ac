"""A client's request as it came, with its caller, project and route."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Invalid
from contextstudio.accounts.models import Project
from contextstudio.accounts.responses import read_json
from operations.forwarding.toolbox import OfferedTool
from operations.forwarding.upstreams.services import Target

from .bodies import ForwardedBody
from .headers import AGENTS, CONVERSATION, PARENT, SESSION, TAGS, TURN, Header
from .replies import MAX_BYTES
from .replies.unpacking import UNREADABLE, unpacking
from .routes import RequestKind, Route

_ENCODING = b"content-encoding"
MAX_NAME_LENGTH = 255
_TITLE = "thread_title"


class CannotBeForwarded(DomainError):
    """A compressed body that can't be read."""

    status = 415
    default_code = "body_encoded"


class UnpackedTooLarge(DomainError):
    """A body that is too large when uncompressed."""

    status = 413
    default_code = "body_too_large"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A client's request, read completely."""

    method: str
    query: bytes
    headers: Sequence[Header]
    """Names are in lower case."""
    body: bytes

    def header(self, name: bytes) -> str:
        """The value of a header; empty if it isn't there."""
        value = next((value for key, value in self.headers if key == name), b"")
        return _text(value).strip()

    def unpacked(self) -> "Incoming":
        """The request with its body uncompressed, as it is then read and sent.

        Raises CannotBeForwarded for an unknown encoding, or a body that isn't encoded as it says.
        """
        encoding = self.header(_ENCODING).lower()
        if encoding in ("", "identity"):
            return self
        try:
            body = _unpacked(encoding, self.body)
        except UNREADABLE:
            body = None
        if body is None:
            raise CannotBeForwarded(
                "Send the body as plain JSON, or compressed with gzip, deflate or zstd as its "
                "Content-Encoding says."
            )
        if len(body) > MAX_BYTES:
            raise UnpackedTooLarge(
                f"A request to this address has at most {MAX_BYTES >> 20} MB, also when it is "
                "uncompressed."
            )
        headers = [one for one in self.headers if one[0] != _ENCODING]
        return replace(self, headers=headers, body=body)

    def first_of(self, names: Iterable[bytes], most: int) -> bytes:
        """The first non-empty of some headers; empty if there is none or it is too long."""
        given = dict(reversed(self.headers))
        found = next((value for name in names if (value := given.get(name))), b"")
        return found if len(found) <= most else b""


def _unpacked(encoding: str, body: bytes) -> bytes | None:
    """The uncompressed body, cut above the maximum; None for an unknown encoding."""
    unpack = unpacking(encoding, MAX_BYTES + 1)
    return unpack(body) if unpack else None


def _text(value: bytes) -> str:
    """A header's value: as UTF-8, as most clients write it, else as Latin-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


class ProxiedRequest(NamedTuple):
    """A request with its caller, project, target and route."""

    caller: Caller
    project: Project
    target: Target
    route: Route
    incoming: Incoming
    tools: Sequence[OfferedTool] = ()
    """The tools of ours that are added."""
    answered_in: uuid.UUID | None = None
    """The session, if calls of tools were answered since the client's request."""
    may_call: bool = True
    """Whether the model may still call tools."""

    @property
    def is_recorded(self) -> bool:
        """Whether it continues a conversation, and isn't only about one."""
        return self.route.kind is RequestKind.REPLY

    def unrecorded(self) -> "ProxiedRequest":
        """The same request, with nothing to be recorded."""
        route = replace(self.route, kind=RequestKind.COUNT)
        return self._replace(route=route)

    @property
    def name(self) -> str:
        """The client's name for the session; empty if it gives none."""
        return self.route.external_id or self.incoming.header(SESSION)

    def check_name(self) -> None:
        """Raises Invalid for a name that a session can't have."""
        if len(self.name) > MAX_NAME_LENGTH:
            raise Invalid(
                f"A session's name has at most {MAX_NAME_LENGTH} characters.",
                at=["X-Session-Id"],
            )
        if any(character < " " for character in self.name):
            raise Invalid(
                "A session's name is one line of text, without control characters.",
                at=["X-Session-Id"],
            )

    @property
    def _called(self) -> bytes:
        return self.incoming.first_of(CONVERSATION, MAX_NAME_LENGTH)

    @property
    def agent(self) -> bytes:
        """The sub-agent that sends the request; empty for the main agent, as in most."""
        given = self.incoming.first_of(AGENTS, MAX_NAME_LENGTH)
        is_other = self._called and given != self._called and not self.answered_in
        return given if is_other else b""

    @property
    def names_session(self) -> bool:
        """Whether it belongs to the session that it names."""
        return bool(self.name) and not self.agent

    def conversation(self, body: ForwardedBody | None = None) -> bytes:
        """The client's name for its conversation; empty if it names a session.

        For a sub-agent it consists of the conversation, or the named session, and the agent.
        """
        if self.agent:
            return (self.name.encode() or self._called) + b"\0" + self.agent
        if self.name or self.answered_in:
            return b""
        return self._called or (body.conversation if body else b"")

    @property
    def parent(self) -> tuple[str, bytes]:
        """Whom a sub-agent works for: a session's name, or the client's name for a conversation."""
        if self.agent:
            return self.name, self._called
        return self.incoming.header(PARENT) if self.name else "", b""

    @property
    def asks_for_title(self) -> bool:
        """Whether it is Codex asking for a title, in a thread that nothing else links."""
        try:
            turn = read_json(self.incoming.header(TURN).encode() or b"null")
        except Invalid:
            return False
        return isinstance(turn, dict) and turn.get("thread_source") == _TITLE

    @property
    def tags(self) -> frozenset[str] | None:
        """The tags that are active for this request only; None means the session's."""
        if not any(name == TAGS for name, _ in self.incoming.headers):
            return None
        words = (word.strip() for word in self.incoming.header(TAGS).split(","))
        return frozenset(word for word in words if word)

    def model(self, body: ForwardedBody) -> str:
        """The model that the request goes to."""
        return self.target.model or self.route.model or body.model
