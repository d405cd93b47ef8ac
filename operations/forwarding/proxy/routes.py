"""Decides which addresses are forwarded, to which provider, and which hold a conversation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import quote, unquote_to_bytes

from contextstudio.accounts.domain.errors import Invalid, NotFound
from operations.forwarding.upstreams.services import WireProvider


class RequestKind(StrEnum):
    """What a request asks of the provider."""

    REPLY = "reply"
    """The next message of a conversation."""
    COUNT = "count"
    """How many tokens a conversation has; nothing is recorded."""
    COMPACTION = "compaction"
    """A replacement of a conversation, made by its provider; not recorded either."""
    LATER = "later"
    """The reply to an earlier request that its provider makes in the background."""
    OTHER = "other"
    """Anything else, passed on unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The destination of a request."""

    provider: WireProvider
    path: str
    """From `/v1` on, still percent-encoded."""
    kind: RequestKind = RequestKind.OTHER
    form: str = ""
    """The form of a conversation, one of `apply`'s; empty if there is none."""
    external_id: str | None = None
    """The session named in the path."""
    model: str = ""
    """The model, if it is named in the path."""
    streams: bool = False
    """Whether the path requests a stream; in other forms the body does."""
    reply: str = ""
    """The id of the reply that is fetched."""


_ROOTS = ("/v1", "/v1beta", "/v1alpha")
_SESSIONS = "/s/"
_BARE = re.compile(r"/models/[^/]+:[A-Za-z]+")
"""The path with which LiteLLM requests Gemini's models if its base URL has no version."""
_DOUBLED = re.compile(r"(?:/v1(?:alpha|beta)?)+(?=/v1(?:alpha|beta)?/)")
"""The prefix of a client that puts its own version after that of its base URL."""
_USUAL_VERSION = "/v1beta"
_UNVERSIONED = frozenset({"/chat/completions", "/responses"})
"""The paths that OpenAI's clients request if their base URL lacks the version."""
_CONVERSATIONS = {
    "/v1/chat/completions": (WireProvider.OPENAI, RequestKind.REPLY, "openai"),
    "/v1/messages": (WireProvider.ANTHROPIC, RequestKind.REPLY, "anthropic"),
    "/v1/messages/count_tokens": (
        WireProvider.ANTHROPIC,
        RequestKind.COUNT,
        "anthropic",
    ),
    "/v1/responses": (WireProvider.OPENAI, RequestKind.REPLY, "openai-responses"),
    "/v1/responses/input_tokens": (
        WireProvider.OPENAI,
        RequestKind.COUNT,
        "openai-responses",
    ),
    "/v1/responses/compact": (
        WireProvider.OPENAI,
        RequestKind.COMPACTION,
        "openai-responses",
    ),
}
_FETCH = re.compile(r"(?:GET|POST) /v1/responses/([^/]+)(?:/cancel)?")
_GEMINI = {
    "generateContent": RequestKind.REPLY,
    "streamGenerateContent": RequestKind.REPLY,
    "countTokens": RequestKind.COUNT,
}


def is_forwarded(path: str) -> bool:
    """Whether an address is the proxy's, even if it is only to be refused there."""
    return path.startswith(_SESSIONS) or path in _UNVERSIONED or _is_providers(path)


def _is_providers(path: str) -> bool:
    if _BARE.fullmatch(path):
        return True
    return any(path == root or path.startswith(f"{root}/") for root in _ROOTS)


def route_of(method: str, raw_path: bytes, headers: Mapping[bytes, bytes]) -> Route:
    """The route of a request to the proxy.

    Raises Invalid for a path with dot segments, NotFound for one that no provider has.
    """
    path = raw_path.decode("latin-1")
    external_id = None
    if path.startswith(_SESSIONS):
        name, _, rest = path.removeprefix(_SESSIONS).partition("/")
        external_id, path = (
            unquote_to_bytes(name).decode("utf-8", "replace"),
            f"/{rest}",
        )
    if _BARE.fullmatch(unquote_to_bytes(path).decode("utf-8", "replace")):
        path = f"{_USUAL_VERSION}{path}"
    spelled_out = unquote_to_bytes(path)
    segments = spelled_out.replace(b"\\", b"/").split(b"/")[1:]
    if {b"", b".", b".."} & set(segments[:-1]) or segments[-1] in (b".", b".."):
        raise Invalid("This path can't be forwarded.", at=["path"])
    # A provider may accept any spelling of a conversation's path, so redactions apply to all.
    address = spelled_out.decode("utf-8", "replace").rstrip("/")
    if doubled := _DOUBLED.match(address):
        address = address[doubled.end() :]
        plain = _DOUBLED.match(path)
        path = path[plain.end() :] if plain else _escaped(address)
    if not _is_providers(address):
        raise NotFound(_no_such_address(external_id), at=["path"])
    route = _route(method, path, address, headers)
    return replace(route, external_id=external_id)


def _no_such_address(external_id: str | None) -> str:
    told = "There is no such address: the base URL of OpenAI's clients ends in /v1"
    if external_id is None:
        return f"{told}."
    return f"{told}, also after a session's name; a slash in a name is written %2F."


def _route(
    method: str, path: str, address: str, headers: Mapping[bytes, bytes]
) -> Route:
    """The route of a path; `address` is the path unescaped, without a trailing slash."""
    if method == "POST" and (known := _CONVERSATIONS.get(address)):
        provider, kind, form = known
        return Route(provider=provider, path=path, kind=kind, form=form)
    if found := _FETCH.fullmatch(f"{method} {address}"):
        form, reply = "openai-responses", found[1]
        kind, provider = RequestKind.LATER, WireProvider.OPENAI
        return Route(provider=provider, path=path, kind=kind, form=form, reply=reply)
    _, _, verb = address.rpartition(":")
    is_gemini = not f"{address}/".startswith("/v1/") or verb in _GEMINI
    if is_gemini or any(name.startswith(b"x-goog-") for name in headers):
        return _gemini(method, path, address)
    is_anthropic = address.startswith("/v1/messages") or b"anthropic-version" in headers
    provider = WireProvider.ANTHROPIC if is_anthropic else WireProvider.OPENAI
    return Route(provider=provider, path=path)


def _gemini(method: str, path: str, address: str) -> Route:
    model, _, verb = address.rpartition(":")
    kind = _GEMINI.get(verb) if method == "POST" and "/models/" in model else None
    if kind is None:
        return Route(provider=WireProvider.GEMINI, path=path)
    return Route(
        provider=WireProvider.GEMINI,
        path=_escaped(address),  # so that another model can be put in
        kind=kind,
        form="gemini",
        model=model.rpartition("/models/")[2],
        streams=verb == "streamGenerateContent",
    )


def _escaped(address: str) -> str:
    return quote(address, safe="/:@,;=+-._~")
