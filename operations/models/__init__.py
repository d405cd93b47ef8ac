"""The rows of operations; the module of each says what it belongs to."""

from .context import ContextPolicy, ScratchpadVersion, Slice, StateVersion
from .forwarding import AnsweredCalls, ClientName, ClientOpening, Upstream
from .log import Lens, LogEntry, OpenFold, SecretScan, Snapshot
from .requests import OtherChoice, ReplyItem, RequestEpochs, SentPiece, SessionRequest

__all__ = [
    "AnsweredCalls",
    "ClientName",
    "ClientOpening",
    "ContextPolicy",
    "Lens",
    "LogEntry",
    "OpenFold",
    "OtherChoice",
    "ReplyItem",
    "RequestEpochs",
    "ScratchpadVersion",
    "SecretScan",
    "SentPiece",
    "SessionRequest",
    "Slice",
    "Snapshot",
    "StateVersion",
    "Upstream",
]
