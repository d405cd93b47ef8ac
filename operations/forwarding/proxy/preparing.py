"""Turns a client's request into the one to send: address, headers and body."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from contextstudio.accounts.credentials import CREDENTIALS, KEY_PREFIX, bare
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.selectors import project_to_edit
from operations.forwarding.upstreams.services import Target, WireProvider, target_of

from .headers import Header, to_upstream
from .incoming import Incoming, ProxiedRequest
from .recording import Exchange, fetched
from .rewriting import RewrittenRequest, rewrite
from .routes import RequestKind, Route
from .tools.offering import (
    MAX_ROUNDS,
    NO_ROUNDS,
    AnsweredRounds,
    Offer,
    requested_tools,
)

_MIN_KEY_LENGTH = 16
"""The minimum length of a provider's real keys, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingRequest:
    """A request to send."""

    method: str
    target: Target
    path: bytes
    """Includes the query."""
    headers: Sequence[Header]
    body: bytes
    form: str = ""
    """The form of a reply that becomes a message; empty if none does."""
    is_list: bool = False
    """Whether a stream that has no events is a list of responses."""
    is_stream: bool = False
    """Whether its body asks for a stream of events."""
    exchange: Exchange | None = None
    notes: Sequence[Header] = field(default_factory=tuple)
    """Notes to the client, as headers of the reply."""
    offer: Offer | None = None
    """The tools of ours that were added and that a reply may call."""

    @property
    def credentials(self) -> list[str]:
        """All keys that it is sent with, whoever owns them; no error may reveal them."""
        given = (value for name, value in self.headers if name in CREDENTIALS)
        keys = (bare(value.decode("latin-1")) for value in given)
        return [key for key in keys if len(key) >= _MIN_KEY_LENGTH]

    @property
    def secret(self) -> bytes:
        """The project's key if it is sent; the caller must not read it in an error.

        Servers that need no key may be given some word in its place, which doesn't count.
        """
        key = self.target.api_key.encode()
        is_sent = any(value.endswith(key) for _, value in self.headers)
        return key if is_sent and len(key) >= _MIN_KEY_LENGTH else b""


def prepare(
    caller: Caller,
    route: Route,
    incoming: Incoming,
    answered: AnsweredRounds = NO_ROUNDS,
) -> OutgoingRequest:
    """The request to send in place of a client's; its session holds the messages by then.

    `answered` counts the calls of our tools since the client's request. Raises what `apply` does,
    and Invalid if there is no way to the provider.
    """
    project = project_to_edit(caller, None, Right.OWN_SESSION)
    if route.form:
        incoming = incoming.unpacked()
    target = target_of(project.pk, route.provider)
    later = None
    if route.kind is RequestKind.LATER:
        later = fetched(caller, project, route.reply)
    is_read = later is not None or route.kind is RequestKind.REPLY
    keys = map(_key, _pairs(incoming))  # Gemini's key may be there
    has_key = target.provider is WireProvider.GEMINI and any(
        key and not key.startswith(KEY_PREFIX) for key in keys
    )
    headers = to_upstream(incoming.headers, target, is_read=is_read, has_key=has_key)
    path = _path(target, route, incoming)
    is_compacted = route.kind is RequestKind.COMPACTION  # a compaction takes no tools
    sent, offer = RewrittenRequest(incoming.body, later), None
    if route.kind not in (RequestKind.OTHER, RequestKind.LATER):
        proxied = ProxiedRequest(
            caller,
            project,
            target,
            route,
            incoming,
            tools=[] if is_compacted else requested_tools(incoming, target),
            answered_in=answered.session_id,
            may_call=answered.rounds < MAX_ROUNDS,
        )
        sent = rewrite(proxied)
    if sent.offered and sent.exchange:
        offer = Offer(
            caller=caller,
            route=route,
            incoming=incoming,
            names=sent.offered,
            before=sent.before,
            answered=answered.rounds,
        )
    body, exchange = sent.body, sent.exchange
    if body or incoming.method in ("POST", "PUT", "PATCH"):
        headers.append((b"content-length", str(len(body)).encode()))
    return OutgoingRequest(
        method=incoming.method,
        target=target,
        path=path,
        headers=headers,
        body=body,
        form=route.form if exchange else "",
        is_list=route.streams,
        is_stream=sent.is_stream,
        exchange=exchange,
        notes=sent.notes,
        offer=offer,
    )


def _path(target: Target, route: Route, incoming: Incoming) -> bytes:
    """The path at the provider, built from the base URL as its own SDK does.

    OpenAI's SDK appends what follows `/v1` to its base URL; the others append the whole path.
    """
    base, path = target.base.path, route.path
    root, _, rest = path[1:].partition("/")
    is_added_already = base.endswith(f"/{root}")
    is_openai = target.provider is WireProvider.OPENAI and base != ""
    if is_added_already or is_openai:
        path = f"/{rest}" if rest else ""
    if target.model and route.model:
        path = path.replace(f"/models/{route.model}:", f"/models/{target.model}:")
    # Removes a key of ours; otherwise the query stays as it came.
    kept = b"&".join(
        pair for pair in _pairs(incoming) if not _key(pair).startswith(KEY_PREFIX)
    )
    return f"{base}{path}".encode() + (b"?" + kept if kept else b"")


def _pairs(incoming: Incoming) -> list[bytes]:
    return incoming.query.split(b"&")


def _key(pair: bytes) -> str:
    """The key in one parameter of a query, however it is encoded; empty if it has none."""
    return dict(parse_qsl(pair.decode("latin-1"))).get("key", "")
