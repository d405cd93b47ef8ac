"""Tools for conversation groups: a user message with everything up to the next."""

from typing import Any

from pydantic import Field

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from operations.domain.log.operation import Snip
from operations.domain.thread.groups import MessageGroup, groups_of, last_shown_group
from operations.domain.tree.key import original_key
from operations.edits import purging, services
from operations.edits.schemas import present_edit, present_transaction
from operations.log.selectors import load_thread
from operations.log.transaction import LogTransaction
from operations.messages.presentation import (
    MAX_MESSAGES,
    present_groups,
    present_range,
)
from operations.notes.states import current_state
from operations.tools.tool import SessionTool


class GroupTool(SessionTool):
    """A tool that acts on one group."""

    group_id: int = Field(ge=0, description="The group's number, from list_groups.")


class ListGroups(SessionTool):
    """List the last groups of a session: each user message with everything that follows it.

    Use it to find what can go before you call drop_group or digest_messages. Every group
    has its range of 0-based message indexes (first and last, inclusive), its title (the
    first words of the user message), its tokens, and its status: `active`, `dropped` (left
    out), `folded` (something shorter is shown) or `purged`. `n` = 0 lists all. Group 0 is
    what precedes the first user message.

    Example: {"session_id": "…", "n": 5}
    """

    name = "list_groups"
    group = "groups"
    reads_only = True

    n: int = Field(10, ge=0, description="How many of the last groups; 0: all.")

    def call(self, caller: Caller) -> list[dict[str, Any]]:
        session = self.open_session(caller)
        return present_groups(session, groups_of(load_thread(session))[-self.n :])


class ShowGroup(GroupTool):
    """Read the messages of one group in full, as they were recorded.

    Use it before you summarise or drop a group. It shows at most the first 500 messages of a
    group; read on with get_message_range.

    Example: {"session_id": "…", "group_id": 3}
    """

    name = "show_group"
    group = "groups"
    reads_only = True

    def call(self, caller: Caller) -> dict[str, Any]:
        session = self.open_session(caller)
        thread = load_thread(session)
        group = purging.find_group(thread, self.group_id)
        end = min(group.last + 1, group.first + MAX_MESSAGES)
        return {
            **present_groups(session, [group])[0],
            "messages": present_range(session, thread, group.first, end),
        }


class DropGroup(GroupTool):
    """Leave a whole group out of what the model sees; this can be undone.

    Use it for an exchange that only distracts: a dead end, a question that is settled. It
    records a snip: nothing is lost, and toggle_operation or undo_operation shows the group
    again. If later work needs something from it, use digest_messages instead.

    Example: {"session_id": "…", "group_id": 3}
    """

    name = "drop_group"
    group = "groups"

    propose: bool = Field(False, description="Record it as a proposal, to be reviewed.")

    def call(self, caller: Caller) -> dict[str, Any]:
        thread = load_thread(self.open_session(caller))
        group = purging.find_group(thread, self.group_id)
        transaction = _snip(self, caller, group, propose=self.propose)
        return {**present_edit(transaction), "group_id": group.id}


class RemoveGroup(GroupTool):
    """Destroy the content of a whole group FOR GOOD. This can't be undone.

    Only for what must not be kept (a leaked secret, somebody's private data), and only when
    a person has asked for exactly this: drop_group has the same effect on what the model
    sees and can be undone. Needs the right to administer. Of each message only a tombstone
    stays (index, role); the files that the session was imported from are destroyed too.

    Example: {"session_id": "…", "group_id": 3}
    """

    name = "remove_group"
    group = "groups"
    is_permanent = True

    def call(self, caller: Caller) -> dict[str, Any]:
        transaction = purging.remove_group(
            caller, self.session_id, self.group_id, expected_head=self.expected_head
        )
        group = purging.find_group(transaction.thread, self.group_id)
        return {
            **present_transaction(transaction),
            "group_id": group.id,
            "first": group.first,
            "last": group.last,
            "status": group.status,
            "purged": group.last - group.first + 1,
        }


class UndoGroup(SessionTool):
    """Roll the conversation back by one exchange: leave out the last group.

    Use it when the last exchange went wrong and you want to try again. It records a snip of
    the last group that the model still sees, so it can be undone; call it again to go back
    further. The state is then that of the last remaining response. While you work on an answer,
    the last group is the question that you are answering. To undo your last *operation* instead,
    use undo_operation.

    Example: {"session_id": "…"}
    """

    name = "undo"
    group = "groups"

    def call(self, caller: Caller) -> dict[str, Any]:
        """Raises Conflict if no group is left."""
        thread = load_thread(self.open_session(caller))
        group = last_shown_group(groups_of(thread))
        if group is None:
            raise Conflict("No group is left to roll back.", code="nothing_to_undo")
        transaction = _snip(self, caller, group)
        state = current_state(transaction.session, transaction.thread)
        return {
            **present_edit(transaction),
            "group_id": group.id,
            "state": state.text if state else None,
        }


def _snip(
    call: SessionTool, caller: Caller, group: MessageGroup, *, propose: bool = False
) -> LogTransaction:
    """Snip what the thread still shows of a group."""
    keys = tuple(map(original_key, range(group.first, group.last + 1)))
    return services.record_edit(
        caller,
        call.session_id,
        Snip(targets=keys),
        propose=propose,
        title=f"Drop group {group.id}",
        expected_head=call.expected_head,
    )
