"""The agent's tools: each is one model of its arguments with what it does, listed once.

`POST /api/tools/<name>` and `manage.py tool <name> '<json>'` are derived from this table; MCP and
`GET /api/tools` are further translations of it.
"""

from .definitions import context, edits, groups, history, log, snapshots, text
from .tool import TOOLS, Tool, call_once, chosen, read_call, register

__all__ = ["TOOLS", "Tool", "call_once", "chosen", "read_call", "register"]

register(
    (
        history.ListSessions,
        history.CreateSession,
        history.AppendMessages,
        edits.TagMessages,
        edits.DigestMessages,
        edits.ReviseMessages,
        edits.SnipMessages,
        edits.ResequenceMessages,
        edits.InsertMessages,
        log.ListOperations,
        log.RevertOperation,
        log.ToggleOperation,
        log.ToggleActor,
        log.AcceptOperation,
        log.RejectOperation,
        log.AmendOperation,
        log.UndoOperation,
        log.RedoOperation,
        log.SetActiveTags,
        snapshots.ManageSnapshots,
        groups.ListGroups,
        groups.ShowGroup,
        groups.DropGroup,
        groups.RemoveGroup,
        groups.UndoGroup,
        history.SearchSessionHistory,
        history.GetMessageRange,
        context.RequestContextSlice,
        context.ShowContext,
        context.SetContextWindow,
        context.ManageScratchpad,
        text.PruneContext,
        history.QueryDb,
    )
)
