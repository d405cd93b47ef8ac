"""Tools for the context that is sent, and for what an agent keeps beside its messages."""

from typing import Any, Literal

from pydantic import Field

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from operations.context.policies import request_slice, set_window
from operations.context.presentation import present_context
from operations.context.services import ContextQuery, assemble
from operations.domain.context.selection import Preference
from operations.edits.arguments import EndIndex, Index, TagNames
from operations.notes.scratchpads import load_scratchpad, write_scratchpad
from operations.tools.tool import SessionTool
from threads.models import Session

_SHOWN = (
    *("session_id", "provider", "model", "policy"),
    *("tokens", "budget", "over_budget", "heaviest"),
    *("layers", "injected", "issues", "steps", "request"),
)
"""The order of the answer: members that a cut answer must include come before long ones."""


class ShowContext(SessionTool):
    """Show the exact context that would be sent to a model now.

    Use it to check the effect of an operation, a window or a slice: `tokens` are the totals,
    `layers` lists what precedes the history (system, state, scratchpad, memos), `issues` what
    was repaired for the provider, `steps` what each step left out and why, and `request` is
    the request body. A `budget` sets `over_budget`, and `heaviest` lists the ranges to fold
    first. A pending slice is shown and not used up. The request is long and comes last:
    `max_tokens` limits how much of it you get, and `next_cursor` continues.

    Example: {"session_id": "…", "provider": "anthropic", "budget": 100000}
    """

    name = "show_context"
    group = "context"
    reads_only = True

    provider: str = Field(
        "",
        description="openai, openai-responses, anthropic, gemini, mistral, deepseek, "
        "bedrock or generic-strict; empty: as the session was recorded.",
    )
    model: str = Field("", max_length=128, description="As the provider names it.")
    active_tags: TagNames | None = Field(
        None, description="Tags for this call only; by default the session's own."
    )
    budget: int | None = Field(
        None,
        ge=1,
        description="In tokens, to compare the request with.",
    )

    def call(self, caller: Caller) -> dict[str, Any]:
        """Raises Invalid for an unknown provider, or if the context can't be sent to it."""
        self.open_session(caller)
        tags = None if self.active_tags is None else frozenset(self.active_tags)
        query = ContextQuery(
            provider=self.provider,
            model=self.model,
            active_tags=tags,
            max_tokens=self.budget,
        )
        found = present_context(assemble(caller, self.session_id, query))
        # The request contains the texts of messages and layers, so layers don't repeat them.
        layers = [
            {name: value for name, value in layer.items() if name != "text"}
            for layer in found["layers"]
        ]
        found |= {"layers": layers, "budget": self.budget}
        return {name: found[name] for name in _SHOWN}


class SetContextWindow(SessionTool):
    """Send only the last n groups of the conversation from now on; 0 sends all.

    A group is a user message with everything that follows it (see list_groups). The system
    prompt, the state, the scratchpad and the memos are always sent. Nothing is folded or
    lost: search_session_history and query_db find what has left the window, and a larger
    window shows it again.

    Example: {"session_id": "…", "n": 5}
    """

    name = "set_context_window"
    group = "context"

    n: int = Field(ge=0, le=1_000_000, description="How many groups; 0: all.")

    def call(self, caller: Caller) -> dict[str, Any]:
        """Set the window; the answer gives the same tokens as show_context."""
        with self.held_session(caller):
            policy = set_window(caller, self.session_id, self.n)
        context = assemble(caller, self.session_id, ContextQuery())
        return {
            "success": True,
            "window": policy.window,
            "policy": policy.preset,
            "tokens": present_context(context)["tokens"],
        }


class RequestContextSlice(SessionTool):
    """Have your next request contain one part of the conversation, and the open turn.

    Use it when you need to see an earlier part in full once more. The range is half-open:
    {"start_message_index": 30, "end_message_index": 40} sends the messages 30 to 39.
    `include_search_results` adds what your last search_session_history found.
    `max_context_messages` keeps only the newest of all these; without a range, the newest of
    the whole conversation. What a range or a search names is sent even if it has left the
    window (see set_context_window). The system message, the last user message and everything
    after it are always sent, and calls go with their results. The slice applies to the next
    request that you send through apply with this key; a later slice replaces an earlier one.

    Example: {"session_id": "…", "start_message_index": 30, "end_message_index": 40}
    """

    name = "request_context_slice"
    group = "context"

    start_message_index: Index | None = None
    end_message_index: EndIndex | None = None
    include_search_results: bool = Field(
        False, description="Add the messages that your last search found."
    )
    max_context_messages: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="How many at most, besides the open turn.",
    )

    def call(self, caller: Caller) -> dict[str, Any]:
        with self.held_session(caller) as session:
            preference = self._preference(session)
            request_slice(caller, self.session_id, preference)
        start, end = preference.start, preference.end
        return {
            "success": True,
            "message_range": None if start is None else [start, end],
            "include_search_results": self.include_search_results,
            "max_context_messages": self.max_context_messages,
        }

    def _preference(self, session: Session) -> Preference:
        """The slice asked for. Raises Invalid."""
        start, end = self.start_message_index, self.end_message_index
        if start is not None and end is not None:
            end = min(end, session.message_count)
            if start >= end:
                raise Invalid(
                    f"There is no message in {start} to {self.end_message_index}; "
                    f"the session has {session.message_count} messages.",
                    at=["start_message_index"],
                )
        preference = Preference(
            start=start,
            end=end,
            include_search_results=self.include_search_results,
            max_context_messages=self.max_context_messages,
        )
        if preference == Preference():
            raise Invalid(
                "Give a range, include_search_results or max_context_messages.",
                at=["start_message_index"],
            )
        return preference


class ManageScratchpad(SessionTool):
    """Read or write the session's scratchpad: your plan, a checklist, notes, in Markdown.

    Its content is sent with every request, even after the messages that it came from have
    left the window; people can see and edit it. `read` shows it, `update` replaces it with
    `content`, `append` adds `content` at its end. Keep it short and current. Every version
    is kept. With `expected_version` the call is refused (409) if it would overwrite a version
    that you have not seen.

    Example: {"session_id": "…", "action": "append", "content": "- [ ] run the tests"}
    """

    name = "manage_scratchpad"
    group = "context"

    action: Literal["read", "update", "append"]
    content: str | None = Field(None, description="Markdown; not with `read`.")
    expected_version: int | None = Field(
        None, ge=0, description="Refuse (409) if the scratchpad has another version."
    )

    def call(self, caller: Caller) -> dict[str, Any]:
        if (self.content is None) != (self.action == "read"):
            raise Invalid(
                "The action read takes no content."
                if self.action == "read"
                else f"The action {self.action} needs content.",
                at=["content"],
            )
        if self.content is None:
            found = load_scratchpad(self.open_session(caller))
        else:
            with self.held_session(caller):
                found = write_scratchpad(
                    caller,
                    self.session_id,
                    self.content,
                    append=self.action == "append",
                    expected_version=self.expected_version,
                )
        return {"content": found.content, "version": found.number}
