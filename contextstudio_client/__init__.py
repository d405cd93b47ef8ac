"""A client for ContextStudio: see an agent's chat thread, restructure it, send what is left.

    from contextstudio_client import Client

    with Client() as studio, studio.session(external_id="run-17") as session:
        applied = session.apply(history)

`AsyncClient` is the same with `await`.
"""

from .clients import (
    AsyncBundles,
    AsyncClient,
    AsyncOperations,
    AsyncSession,
    AsyncSessions,
    Bundles,
    Client,
    Operations,
    Session,
    Sessions,
)
from .errors import (
    Conflict,
    Fault,
    Forbidden,
    Invalid,
    NotFound,
    Refused,
    StudioError,
    TooMany,
    Unauthenticated,
    Unavailable,
    Unexpected,
    Unreachable,
)
from .exchange import Retries
from .shapes import (
    Applied,
    BeforeAfter,
    Changed,
    Context,
    ContextTokens,
    Issue,
    Message,
    Note,
    Operation,
    OperationList,
    Page,
    Recorded,
    RecordedBundle,
    RecordedOne,
    Resolved,
    SessionInfo,
    Step,
    Suspended,
    Switched,
)

__all__ = [
    "Applied",
    "AsyncBundles",
    "AsyncClient",
    "AsyncOperations",
    "AsyncSession",
    "AsyncSessions",
    "BeforeAfter",
    "Bundles",
    "Changed",
    "Client",
    "Conflict",
    "Context",
    "ContextTokens",
    "Fault",
    "Forbidden",
    "Invalid",
    "Issue",
    "Message",
    "NotFound",
    "Note",
    "Operation",
    "OperationList",
    "Operations",
    "Page",
    "Recorded",
    "RecordedBundle",
    "RecordedOne",
    "Refused",
    "Resolved",
    "Retries",
    "Session",
    "SessionInfo",
    "Sessions",
    "Step",
    "StudioError",
    "Suspended",
    "Switched",
    "TooMany",
    "Unauthenticated",
    "Unavailable",
    "Unexpected",
    "Unreachable",
]
