"""The tools that record an edit."""

from typing import Any

from contextstudio.accounts.domain.caller import Caller
from operations.edits import services
from operations.edits.arguments import (
    DigestArguments,
    EditArguments,
    InsertArguments,
    ResequenceArguments,
    ReviseArguments,
    SnipArguments,
    TagArguments,
)
from operations.edits.schemas import present_edit
from operations.log.transaction import LogTransaction
from operations.tools.tool import SessionTool


class EditTool(SessionTool, EditArguments):
    """A tool that records an edit in a session."""

    def call(self, caller: Caller) -> dict[str, Any]:
        return self.answer(
            services.record_edit(
                caller, self.session_id, self, expected_head=self.expected_head
            )
        )

    def answer(self, transaction: LogTransaction) -> dict[str, Any]:
        return present_edit(transaction)


class TagMessages(EditTool, TagArguments):
    """Tag the messages from start_idx to end_idx (0-based, inclusive).

    Use tags to mark what belongs together (a topic, a decision, a dead end), so that you and
    others can find it again. The text of the messages does not change, and the tag can be
    undone like any operation.

    Example: {"session_id": "…", "start_idx": 5, "end_idx": 10, "tags": ["database-design"]}
    """

    name = "tag_messages"
    group = "edit"

    def answer(self, transaction: LogTransaction) -> dict[str, Any]:
        return {**super().answer(transaction), "tag_count": len(set(self.tags))}


class DigestMessages(EditTool, DigestArguments):
    """Fold the messages from start_idx to end_idx (0-based, inclusive) into one summary.

    Use it when a stretch of work is done and only its outcome matters. The model then reads
    your summary (role system) in their place; the originals are kept and can be unfolded.
    Name the files, commands, numbers and decisions that later work needs: what the summary
    leaves out, the model no longer sees. A range that would cut through an earlier fold is
    refused (409), and `needs` in the answer says which range would work. With `tags` it
    applies only while these tags are active.

    Example: {"session_id": "…", "start_idx": 3, "end_idx": 8,
    "summary": "Discussed auth options; chose JWT"}
    """

    name = "digest_messages"
    group = "edit"


class ReviseMessages(EditTool, ReviseArguments):
    """Show the replacements in place of the messages start_idx to end_idx (0-based, inclusive).

    Use it to straighten out a muddled exchange: the question in its final form, and the
    answer in the end. The originals are kept and can be unfolded. `replacements` are
    messages with role and content, as in a chat request; for a single summary use
    digest_messages, to show nothing in their place snip_messages.

    Example: {"session_id": "…", "start_idx": 5, "end_idx": 10, "replacements": [
    {"role": "user", "content": "Refined question about auth"},
    {"role": "assistant", "content": "Here's the JWT implementation…"}]}
    """

    name = "revise_messages"
    group = "edit"


class SnipMessages(EditTool, SnipArguments):
    """Leave out the messages from start_idx to end_idx (0-based, inclusive).

    Use it for what later work doesn't need: failed attempts, repeated output, small talk.
    The model sees nothing in their place; the originals are kept and can be unfolded. Leave
    out a tool call together with its result: half of a pair is never sent.

    Example: {"session_id": "…", "start_idx": 5, "end_idx": 8}
    """

    name = "snip_messages"
    group = "edit"


class ResequenceMessages(EditTool, ResequenceArguments):
    """Reorder messages: the listed ones fill the places that they hold now, in the given order.

    `new_order` is a partial permutation of 0-based indexes: messages that are not listed stay
    where they are. List each index at most once. To swap messages 4 and 9, give [9, 4].

    Example: {"session_id": "…", "new_order": [8, 9, 5, 6, 7, 10, 11]}
    """

    name = "resequence_messages"
    group = "edit"


class InsertMessages(EditTool, InsertArguments):
    """Insert messages of your own after message after_idx (0-based; -1: at the top).

    Use it to add what is missing where it belongs: a clarification that came later, a note
    on a mistake. The originals stay. Several inserts after the same message appear in the
    order in which they were made.

    Example: {"session_id": "…", "after_idx": 5, "messages": [{"role": "assistant",
    "content": "(Context: user later clarified they meant PostgreSQL)"}]}
    """

    name = "insert_messages"
    group = "edit"
