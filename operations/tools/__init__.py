"""The agent's tools: each is one model of arguments with what it does, listed once.

From this table come `POST /api/tools/<name>` and `manage.py tool <name> '<json>'`; MCP and
`GET /api/tools` are further translations of the same rows.
"""

from .definitions.context import (
    ManageScratchpad,
    RebuildState,
    RequestContextSlice,
    SetContextWindow,
    ShowContext,
)
from .definitions.edits import (
    DigestMessages,
    InsertMessages,
    ResequenceMessages,
    ReviseMessages,
    SnipMessages,
    TagMessages,
)
from .definitions.groups import DropGroup, ListGroups, RemoveGroup, ShowGroup, UndoGroup
from .definitions.history import (
    GetMessageRange,
    SearchSessionHistory,
    SummarizeMessageRange,
)
from .definitions.log import (
    AcceptOperation,
    AmendOperation,
    ListOperations,
    RedoOperation,
    RejectOperation,
    RevertOperation,
    SetActiveTags,
    ToggleOperation,
    UndoOperation,
)
from .definitions.queries import QueryDb
from .definitions.sessions import ListSessions
from .definitions.text import PruneContext
from .table import TOOLS, call_once, read_call, register
from .tool import Tool

__all__ = ["TOOLS", "Tool", "call_once", "read_call", "register"]

register(
    (
        ListSessions,
        TagMessages,
        DigestMessages,
        ReviseMessages,
        SnipMessages,
        ResequenceMessages,
        InsertMessages,
        ListOperations,
        RevertOperation,
        ToggleOperation,
        AcceptOperation,
        RejectOperation,
        AmendOperation,
        UndoOperation,
        RedoOperation,
        SetActiveTags,
        ListGroups,
        ShowGroup,
        DropGroup,
        RemoveGroup,
        UndoGroup,
        SearchSessionHistory,
        GetMessageRange,
        SummarizeMessageRange,
        RequestContextSlice,
        ShowContext,
        SetContextWindow,
        ManageScratchpad,
        RebuildState,
        PruneContext,
        QueryDb,
    )
)
