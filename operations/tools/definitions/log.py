"""Tools that read the log, and switch, review and take back operations."""

import uuid
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid, NotFound
from operations.domain.log.operation import Redo, Undo
from operations.domain.tree.key import entry_key, entry_number
from operations.edits import own_entries, services
from operations.edits.arguments import ActiveTags, AmendArguments
from operations.edits.schemas import present_transaction
from operations.edits.services import Act
from operations.log.presentation import present_operations
from operations.log.selectors import (
    get_operation,
    get_operation_id,
    load_history,
    load_thread,
)
from operations.log.transaction import LogTransaction
from operations.tools.tool import SessionTool, Tool
from threads.models import Session


def _operation(name: str) -> str:
    """Check that a name can be an operation's.

    The refusal is worded here, as pydantic knows one kind only.
    """
    if entry_number(name) is None:
        try:
            uuid.UUID(name)
        except ValueError:
            raise PydanticCustomError(
                "operation_id", "Give an operation's id, a UUID, or its key, such as o7"
            ) from None
    return name


OperationName = Annotated[
    str,
    AfterValidator(_operation),
    Field(
        max_length=45,
        description="Its id, a UUID, or its key, such as `o7`, from list_operations.",
    ),
]


class OperationTool(Tool):
    """A tool that acts on one operation; if a session is given, the operation must be in it."""

    switches_to: ClassVar[Act]
    """The act of a tool that only switches the operation."""

    operation_id: OperationName
    session_id: uuid.UUID | None = Field(
        None, description="Needed with a key. Refuse (404) what is not in this session."
    )

    def session_at_hand(self, caller: Caller) -> Session:
        return get_operation(caller, self._found(caller))[0]

    def call(self, caller: Caller) -> dict[str, Any]:
        return present_transaction(self.act(caller, self._found(caller)))

    def act(self, caller: Caller, operation: uuid.UUID) -> LogTransaction:
        return self.switch(caller, operation, self.switches_to)

    def switch(self, caller: Caller, operation: uuid.UUID, act: Act) -> LogTransaction:
        return services.switch(caller, operation, act, expected_head=self.expected_head)

    def _found(self, caller: Caller) -> uuid.UUID:
        """The id of the operation. Raises NotFound, or Invalid for a key without its session."""
        if (number := entry_number(self.operation_id)) is not None:
            if self.session_id is None:
                sentence = "Give session_id too: every session counts its operations."
                raise Invalid(sentence, at=["session_id"])
            return get_operation_id(caller, self.session_id, number)
        operation = uuid.UUID(self.operation_id)
        if self.session_id is not None:
            session, _ = get_operation(caller, operation)
            if session.pk != self.session_id:
                raise NotFound(
                    "There is no such operation in this session.", at=["operation_id"]
                )
        return operation


class ListOperations(SessionTool):
    """List the operations of a session with their status and the reason for it.

    Use it to find the operation_id of what you want to switch, amend or revert: `first`,
    `last` and `count` say which messages an operation names, and `words` begins what it shows
    (of a tag: its tags). The newest come last; `n` lists only the last n. `status` is
    `applied`, `off`, `reverted`, `proposed`, `rejected`, `unmet` (its condition does not
    hold), `suspended` (the client no longer sends what it covers; it resumes when the client
    does), `void` (nothing it covers is there) or `conflict` (another operation is in its
    way); `reason` says why. What is `proposed` and `staged` is a draft: only its author can
    commit it. `active_only` lists only those that are applied.

    Example: {"session_id": "…", "active_only": true, "n": 10}
    """

    name = "list_operations"
    group = "log"
    reads_only = True

    active_only: bool = Field(False, description="Only those that are applied.")
    n: int = Field(0, ge=0, description="How many of the last ones; 0: all.")

    def call(self, caller: Caller) -> dict[str, Any]:
        session = self.open_session(caller)
        thread, history = load_thread(session), load_history(session)
        found = present_operations(
            thread, history, active_only=self.active_only, newest=self.n
        )
        return {"operations": found}


class RevertOperation(OperationTool):
    """Revert an operation: the thread reads as if it had not been made.

    Nothing is lost: toggle_operation with active=true restores it. To see the originals only
    for a while, switch it off with toggle_operation instead.

    Example: {"operation_id": "…"}
    """

    name = "revert_operation"
    group = "log"
    switches_to = Act.REVERT


class ToggleOperation(OperationTool):
    """Switch an operation off, or on again.

    While it is off, the originals are shown again; the operation keeps its place in the log.
    `changed` in the answer lists other operations whose status has changed as a result.

    Example: {"operation_id": "…", "active": false}
    """

    name = "toggle_operation"
    group = "log"

    active: bool = Field(description="False: off; true: on again.")

    def act(self, caller: Caller, operation: uuid.UUID) -> LogTransaction:
        return self.switch(caller, operation, Act.ON if self.active else Act.OFF)


class ToggleActor(SessionTool):
    """Switch all operations of one actor off at once, or back on.

    `actor` is an `actor.id` from list_operations, such as `key:5`; by default your own. Off,
    the thread reads as if this actor had recorded nothing; one undo_operation undoes that.
    Back on, only the operations that were on before return, not those that were already off.
    Proposals keep waiting.

    Example: {"session_id": "…", "actor": "key:5", "active": false}
    """

    name = "toggle_actor"
    group = "log"

    actor: str | None = Field(
        None,
        min_length=1,
        max_length=64,
        description="Such as `key:5`; by default your own.",
    )
    active: bool = Field(description="False: off; true: back on.")

    def call(self, caller: Caller) -> dict[str, Any]:
        transaction = services.switch_all(
            caller,
            self.session_id,
            self.actor or caller.actor,
            active=self.active,
            expected_head=self.expected_head,
        )
        return present_transaction(transaction)


class ReviewTool(OperationTool):
    """A tool that decides on a proposal, or on all proposals of its bundle."""

    bundle: bool = Field(
        False, description="Decide on all waiting proposals of its bundle."
    )

    def act(self, caller: Caller, operation: uuid.UUID) -> LogTransaction:
        return self.review(caller, operation)

    def review(
        self, caller: Caller, operation: uuid.UUID, *, skip_conflicts: bool = False
    ) -> LogTransaction:
        session, key = get_operation(caller, operation)
        bundle = load_history(session).rows[int(key[1:])].bundle
        if bundle is None or not self.bundle:
            return self.switch(caller, operation, self.switches_to)
        return services.switch_bundle(
            caller,
            bundle,
            self.switches_to,
            skip_conflicts=skip_conflicts,
            expected_head=self.expected_head,
        )


class AcceptOperation(ReviewTool):
    """Accept a proposed operation so that it applies, or with `bundle` all proposed with it.

    Needs the right to review. Don't accept your own proposals unless a person has told you to:
    they wait for somebody else to look at them. If some of a bundle can't apply, none is
    accepted, and `errors` lists each with the reason. With `skip_conflicts` the others are
    accepted, and `warnings` names those that keep waiting.

    Example: {"operation_id": "…", "bundle": true, "skip_conflicts": true}
    """

    name = "accept_operation"
    group = "log"
    switches_to = Act.ACCEPT

    skip_conflicts: bool = Field(
        False, description="In a bundle, accept the others if some can't be accepted."
    )

    def act(self, caller: Caller, operation: uuid.UUID) -> LogTransaction:
        return self.review(caller, operation, skip_conflicts=self.skip_conflicts)


class RejectOperation(ReviewTool):
    """Reject a proposed operation, or with `bundle` all that were proposed with it.

    Needs the right to review. A rejected operation can still be accepted later.
    """

    name = "reject_operation"
    group = "log"
    switches_to = Act.REJECT


class AmendOperation(OperationTool, AmendArguments):
    """Give an operation new words or a new condition; what it covers stays the same.

    Use it to correct a summary instead of making a second digest: `summary` for a digest,
    `text` for a condense, `replacements` for a revise, `messages` for an insert, `tags` or
    `condition` for when it applies.

    Example: {"operation_id": "…", "summary": "Chose JWT; tokens live 15 minutes."}
    """

    name = "amend_operation"
    group = "log"

    def act(self, caller: Caller, operation: uuid.UUID) -> LogTransaction:
        return services.amend(
            caller, operation, self.amended, expected_head=self.expected_head
        )


class UndoOperation(SessionTool):
    """Undo what you recorded last in this session; a bundle is undone as a whole.

    This undoes only your own entries: what others did stays. `entries` in the answer are the
    keys of what was undone, `changed` the operations whose status has changed as a result.
    Call it again to go further back, and redo_operation to bring back what you undid.

    Example: {"session_id": "…"}
    """

    name = "undo_operation"
    group = "log"

    def call(self, caller: Caller) -> dict[str, Any]:
        """Raises Conflict if there is nothing to undo, or if others need it."""
        return _present_turned(
            own_entries.undo(caller, self.session_id, expected_head=self.expected_head)
        )


class RedoOperation(SessionTool):
    """Bring back what you undid last, unless you have recorded something since.

    Example: {"session_id": "…"}
    """

    name = "redo_operation"
    group = "log"

    def call(self, caller: Caller) -> dict[str, Any]:
        return _present_turned(
            own_entries.redo(caller, self.session_id, expected_head=self.expected_head)
        )


def _present_turned(transaction: LogTransaction) -> dict[str, Any]:
    """The answer of an undo or a redo, with the keys of the entries concerned."""
    turn = transaction.history.log.at(transaction.numbers[-1]).operation
    entries = turn.entries if isinstance(turn, Undo | Redo) else ()
    return {
        **present_transaction(transaction),
        "entries": list(map(entry_key, entries)),
    }


class SetActiveTags(SessionTool, ActiveTags):
    """Set the tags that are active in a session; an empty list clears them.

    Operations with a condition apply only while the active tags meet it. So one thread can
    have a short and a long version: record the snips and digests of the short one with
    tags=["brief"], and switch by activating the tag.

    Example: {"session_id": "…", "tags": ["brief"]}
    """

    name = "set_active_tags"
    group = "log"

    def call(self, caller: Caller) -> dict[str, Any]:
        transaction = services.activate_tags(
            caller, self.session_id, self.tags, expected_head=self.expected_head
        )
        return {
            **present_transaction(transaction),
            "active_tags": sorted(transaction.thread.active_tags),
        }
