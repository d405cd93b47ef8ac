"""Tools with which an agent finds sessions, adds to them, and looks into their history."""

from typing import Any

from pydantic import Field

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.selectors import project_to_edit
from operations.context.policies import keep_matches
from operations.edits.arguments import EndIndex, Index
from operations.log.selectors import load_thread
from operations.messages.presentation import (
    MAX_MESSAGES,
    present_briefly,
    present_excerpt,
    present_range,
)
from operations.tools.query_db.places import place_of
from operations.tools.query_db.query import run_query
from operations.tools.tool import SessionTool, Tool
from threads.domain.formats.openai.messages import read_given_messages
from threads.models import Session
from threads.search.by_meaning import search_by_meaning
from threads.search.services import excerpt_of, find_in_session
from threads.sessions import given_tags
from threads.sessions.presentation import MessageData, Name, present_session
from threads.sessions.services import NewSession, append_messages, create_session
from threads.store.selectors import list_sessions

MAX_MATCHES = 50


class ListSessions(Tool):
    """List the sessions that you may see, with their ids, the last changed first.

    Most other tools need a session_id: take it from here unless you were told one. `query`
    is a part of the title, ignoring case; `external_id` finds the session that was created
    under this name; `project` is the project's slug. `truncated` says that there are more
    than `limit`.

    Example: {"query": "night sailings"}
    """

    name = "list_sessions"
    group = "sessions"
    reads_only = True

    query: str = Field(
        "", max_length=300, description="Part of the title, ignoring case."
    )
    external_id: str | None = Field(
        None, max_length=255, description="The name given to create_session."
    )
    limit: int = Field(20, ge=1, le=500, description="How many sessions at most.")

    def call(self, caller: Caller) -> dict[str, Any]:
        page = list_sessions(
            caller,
            project=self.project,
            query=self.query,
            external_id=self.external_id,
            limit=self.limit,
        )
        return {
            "sessions": [present_session(session) for session in page.items],
            "truncated": page.next_cursor is not None,
        }


class CreateSession(Tool):
    """Create a session for a conversation: your own, or one that you want to keep.

    Then append what is said with append_messages. `messages` have the format of OpenAI chat
    or Anthropic; each may have `created_at`, `usage` and `tags`. If you may create sessions in
    several projects, name one in `project`. `external_id` is your own name for the
    conversation: a second session with the same one is refused (409), and list_sessions finds
    the first.

    Example: {"title": "Night sailings", "messages": [{"role": "user", "content": "Hello"}]}
    """

    name = "create_session"
    group = "sessions"

    title: str = Field("", max_length=300)
    external_id: Name | None = Field(
        None,
        min_length=1,
        max_length=255,
        description="Your own name for the conversation.",
    )
    system: str | None = Field(None, description="The system prompt: message 0.")
    messages: list[MessageData] = Field([], description="As in a chat request.")
    model: Name = Field("", max_length=128, description="As the provider names it.")

    def call(self, caller: Caller) -> dict[str, Any]:
        if self.expected_head:
            raise Conflict(
                "A new session has no log yet: leave out expected_head.",
                code="stale_head",
            )
        project = project_to_edit(caller, self.project, Right.OWN_SESSION)
        new = NewSession(
            title=self.title,
            external_id=self.external_id,
            system=self.system,
            model=self.model,
            messages=read_given_messages(self.messages),
            tags=given_tags.tags_of(self.messages),
        )
        return present_session(create_session(caller, project, new))


class AppendMessages(SessionTool):
    """Append messages at the end of a session, as they were said.

    They are recorded as originals and never change. `messages` have the format of OpenAI chat
    or Anthropic; each may have `created_at`, `usage` and `tags`. With `expected_count` nothing
    is appended (409) if the session now has a different number of messages. To add something
    that nobody said, use insert_messages.

    Example: {"session_id": "…", "messages": [{"role": "user", "content": "And back?"}]}
    """

    name = "append_messages"
    group = "sessions"

    messages: list[MessageData] = Field(
        min_length=1, description="As in a chat request."
    )
    expected_count: int | None = Field(
        None, ge=0, description="Refuse (409) if the session has another number."
    )

    def call(self, caller: Caller) -> dict[str, Any]:
        messages = read_given_messages(self.messages)
        with self.held_session(caller):
            session = append_messages(
                caller,
                self.session_id,
                messages,
                expected_count=self.expected_count,
                tags=given_tags.tags_of(self.messages),
            )
        return present_session(session)


class SearchSessionHistory(SessionTool):
    """Search the whole history of a session for words, including what is folded or dropped.

    Use it for what was said earlier and has left your context: it finds the messages
    that contain `query` literally (ignoring case). `matches` are pairs of 0-based index and
    message, oldest first, at most 50; `total_matches` counts all. In a long session set
    `excerpts`: of each message you then get only the words around the first match. `start`
    searches from that index on, to go on after 50 matches. Read around a match with
    get_message_range, or have a range sent with your next request by request_context_slice.

    With `meaning`, it finds messages about the query instead, whatever their wording, the
    closest first, and `similarities` says how close each is. It misses names and numbers.
    `truncated` says that there are more than `total_matches`, and `pending` how many texts are
    not compared yet. It is refused (409) unless the operator has switched it on.

    Example: {"session_id": "…", "query": "database", "excerpts": true}
    """

    name = "search_session_history"
    group = "search"
    reads_only = True

    query: str = Field(
        min_length=1, max_length=1000, description="Words, taken literally."
    )
    meaning: bool = Field(
        False, description="Search by meaning instead of for these words."
    )
    excerpts: bool = Field(
        False, description="Return only the words around a match, not whole messages."
    )
    start: Index = Field(
        0, description="0-based index to search from; not with meaning."
    )

    def call(self, caller: Caller) -> dict[str, Any]:
        session = self.open_session(caller)
        if self.meaning:
            return self._by_meaning(caller, session)
        found = find_in_session(session, self.query, start=self.start)
        keep_matches(caller, session, (index for index, _ in found))
        return {
            "query": self.query,
            "matches": [
                [
                    index,
                    present_excerpt(original, excerpt_of(original, self.query))
                    if self.excerpts
                    else present_briefly(original),
                ]
                for index, original in found[:MAX_MATCHES]
            ],
            "total_matches": len(found),
        }

    def _by_meaning(self, caller: Caller, session: Session) -> dict[str, Any]:
        if self.start:
            raise Invalid("start can't be combined with meaning.", at=["start"])
        results = search_by_meaning(
            caller, self.query, session_id=session.pk, limit=MAX_MATCHES
        )
        found = results.matches
        keep_matches(caller, session, (one.original.row.index for one in found))
        return {
            "query": self.query,
            "matches": [
                [
                    one.original.row.index,
                    present_excerpt(one.original, one.excerpt)
                    if self.excerpts
                    else present_briefly(one.original),
                ]
                for one in found
            ],
            "total_matches": len(found),
            "similarities": [one.similarity for one in found],
            "truncated": results.next_cursor is not None,
            "pending": results.pending,
        }


class GetMessageRange(SessionTool):
    """Read the messages start to end of a session, as they were recorded.

    The range is half-open, as in most programming languages: {"start": 30, "end": 40} gives
    the messages 30 to 39. Indexes are 0-based and count every original message, the system
    message included. At most 500 messages at once; `end` in the answer says where it
    stopped.

    Example: {"session_id": "…", "start": 30, "end": 40}
    """

    name = "get_message_range"
    group = "search"
    reads_only = True

    start: Index
    end: EndIndex

    def call(self, caller: Caller) -> dict[str, Any]:
        session = self.open_session(caller)
        if self.start > self.end:
            raise Invalid("start must not be greater than end.", at=["start"])
        end = min(self.end, self.start + MAX_MESSAGES, session.message_count)
        start = min(self.start, end)
        thread = load_thread(session)
        return {
            "start": start,
            "end": end,
            "message_count": session.message_count,
            "messages": present_range(session, thread, start, end),
        }


class QueryDb(SessionTool):
    """Query the session's own history in SQL (SQLite's dialect, one SELECT, read-only).

    There is one table, one row per original message:
    `messages(id INTEGER, key, group_id, role, content, status, parsing_strategy, tool_name,
    tokens, tags, created_at)`. `id` is the 0-based index and `key` is `m<id>`; `content` is
    what the message says, with names and arguments of its tool calls; `group_id` counts the
    turns from 1 (0: before the first); `tags` is a JSON list. `status` is `dropped` for what
    was snipped or destroyed, `folded` in any other fold, else `tool_call` for calls and
    results, else `active`. Use it for what has left your context, such as the whole of a
    truncated result. Order by `id DESC` for the newest, and skip `dropped` ones.

    You get at most 500 rows and 200 kB (`truncated`: there was more), in two seconds. No
    recursive query.

    Example: {"session_id": "…", "sql": "SELECT id, role, content FROM messages WHERE
    status != 'dropped' AND content LIKE '%refactor plan%' ORDER BY id DESC LIMIT 5"}
    """

    name = "query_db"
    group = "search"
    reads_only = True

    sql: str = Field(min_length=1, max_length=20_000, description="One SELECT.")

    def call(self, caller: Caller) -> dict[str, Any]:
        session = self.open_session(caller)
        with place_of(caller.actor):
            return run_query(session, self.sql)
