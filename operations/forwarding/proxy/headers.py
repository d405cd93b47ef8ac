"""Decides which headers pass, and adds the key.

Headers of the connection end here, as RFC 9110 requires, and so do those meant for this proxy:
its key, the name of the session, cookies of this host. All others pass unchanged.
"""

from collections.abc import Iterable

from contextstudio.accounts.credentials import CREDENTIALS, KEY_PREFIX, bare
from contextstudio.accounts.domain.errors import Invalid
from operations.forwarding.upstreams.services import Target, WireProvider

Header = tuple[bytes, bytes]
SESSION = b"x-session-id"
TAGS = b"x-contextstudio-tags"
TOOLS = b"x-contextstudio-tools"
CONVERSATION = (
    b"x-claude-code-session-id",
    b"session-id",
    b"conversation-id",
)
"""Headers in which clients name their conversation; they are passed on to the provider. Headers
with an underscore in their name never arrive (`contextstudio/web/guard.py`)."""
AGENTS = (b"x-claude-code-agent-id", b"thread-id")
"""Headers in which clients say which agent of the conversation sends the request."""
TURN = b"x-codex-turn-metadata"
"""The header in which Codex describes the purpose of a turn, as JSON."""
PARENT = b"x-parent-session-id"
"""The session of the agent that a sub-agent works for; the sub-agent's own is in `SESSION`."""
_HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization"}
    | {b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade"}
)
_OURS = frozenset(
    {b"host", b"content-length", b"expect", b"cookie", SESSION, b"forwarded"}
    | {b"x-real-ip"}
)
_OUR_PREFIXES = (b"x-contextstudio-", b"x-forwarded-")
_NOT_OF_THIS_HOST = frozenset(
    {b"set-cookie", b"strict-transport-security", b"alt-svc", b"clear-site-data"}
    | {b"content-security-policy", b"content-security-policy-report-only", b"refresh"}
    | {
        b"x-content-type-options",
        b"report-to",
        b"nel",
        b"public-key-pins",
        b"server-timing",
    }
    | {b"service-worker-allowed", b"origin-agent-cluster"}
)
"""Headers about a provider's own host, which would be applied to this one."""
_HARMLESS = [
    # A reply must not be rendered here: a page from an upstream would act as this site.
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; sandbox"),
]


def to_upstream(
    given: Iterable[Header], target: Target, *, is_read: bool, has_key: bool = False
) -> list[Header]:
    """The headers of a request to the provider, except those about its body.

    They contain the caller's own key if it sends one, else the project's. `is_read`: the reply's
    body must be readable here. `has_key`: the caller's key is somewhere else. Raises Invalid if
    there is no key at all.
    """
    given = list(given)
    dropped = _HOP_BY_HOP | _OURS | _named_by_connection(given)
    sent: list[Header] = [(b"host", target.base.authority.encode())]
    for name, value in given:
        name = name.lower()
        if name in dropped or name.startswith(_OUR_PREFIXES):
            continue
        if name in CREDENTIALS:
            if bare(value.decode("latin-1")).startswith(KEY_PREFIX):
                continue
            has_key = True
        if name == b"accept-encoding" and is_read:
            continue
        sent.append((name, value))
    if is_read:  # read while it streams to the client, so uncompressed
        sent.append((b"accept-encoding", b"identity"))
    if not has_key:
        sent.append(_with_key(target))
    return sent


def _with_key(target: Target) -> Header:
    if not target.api_key:
        raise Invalid(
            f"There is no key for {target.provider}: store one with the project's upstream, or "
            "send your own beside X-ContextStudio-Key.",
            at=["upstream"],
            code="upstream_key_missing",
        )
    key = target.api_key.encode()
    match target.provider:
        case WireProvider.ANTHROPIC:
            return b"x-api-key", key
        case WireProvider.GEMINI:
            return b"x-goog-api-key", key
    return b"authorization", b"Bearer " + key


def to_client(given: Iterable[Header]) -> list[Header]:
    """The headers of a reply to the client."""
    given = list(given)
    dropped = _HOP_BY_HOP | _NOT_OF_THIS_HOST | _named_by_connection(given)
    if any(name.lower() == b"transfer-encoding" for name, _ in given):
        dropped |= {b"content-length"}  # ignored beside the other
    kept = [
        (name.lower(), value)
        for name, value in given
        if name.lower() not in dropped
        and not name.lower().startswith((b"access-control-", b"x-contextstudio-"))
    ]
    return [*kept, *_HARMLESS]


def _named_by_connection(given: Iterable[Header]) -> set[bytes]:
    return {
        one.strip().lower()
        for name, value in given
        if name.lower() == b"connection"
        for one in value.split(b",")
    }
