"""Tools that summarise: a range as a proposed digest, STATE as a proposal."""

import time
from difflib import unified_diff
from typing import Any

from django.db import connection

from archive.domain.summaries.providers import RULES
from archive.domain.summaries.structural import structural_digest
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Job
from contextstudio.accounts.selectors import get_job
from contextstudio.database.outages import FAULTS, is_outage
from operations.context.rebuild_state import rebuild_state
from operations.edits.arguments import DigestArguments, EndIndex, Index
from operations.edits.schemas import present_edit
from operations.edits.services import record_edit
from operations.log.selectors import load_thread
from operations.tools.tool import SessionTool
from threads.store.selectors import get_session

from . import services
from .choosing import choices
from .reading import utterances_of

PATIENCE = 20.0
"""Seconds that a tool waits for a model before it answers with the job."""
_PAUSE = 0.1
_ENDED = (Job.Status.DONE, Job.Status.FAILED, Job.Status.CANCELLED, Job.Status.ASKS)


class SummarizeMessageRange(SessionTool):
    """Get a summary of the messages start_idx to end_idx, and propose it as their digest.

    The range is half-open: {"start_idx": 0, "end_idx": 20} covers the messages 0 to 19. The
    summary is stored beside the messages as a *proposed* digest: the thread does not change
    until somebody accepts it. `made_by` names the model that wrote it, or is `rules` if no
    provider is set up: the summary then quotes what was asked, the files and commands, what
    failed and what was decided. `dropped` lists what the messages name and the summary does
    not. If the model takes longer than 20 seconds, the answer is {"job_id"} and the proposal
    comes later. If you have read the messages, your own words with digest_messages may serve
    better.

    Example: {"session_id": "…", "start_idx": 0, "end_idx": 20}
    """

    name = "summarize_message_range"
    group = "search"

    start_idx: Index
    end_idx: EndIndex

    def call(self, caller: Caller) -> dict[str, Any]:
        """Propose the digest. Raises Invalid for a range that is not in the session."""
        session = get_session(caller, self.session_id)
        if self.start_idx >= self.end_idx:
            raise Invalid(
                "The range is half-open: end_idx must be greater than start_idx.",
                at=["end_idx"],
            )
        if self.end_idx > session.message_count:
            raise Invalid(
                f"The session has {session.message_count} messages; "
                f"end_idx is {self.end_idx}.",
                at=["end_idx"],
            )
        if not choices(session.project, session)[0].provider:
            return self._by_rule(caller)
        ordered = services.order_summary(
            caller,
            self.session_id,
            start=self.start_idx,
            end=self.end_idx,
            propose=True,
            expected_head=self.expected_head,
        )
        return _answer_of(caller, ordered.job)

    def _by_rule(self, caller: Caller) -> dict[str, Any]:
        session = get_session(caller, self.session_id)
        thread = load_thread(session)
        keys = thread.resolve_range(self.start_idx, self.end_idx - 1)
        summary = structural_digest(utterances_of(session, thread, keys))
        digest = DigestArguments.model_validate(
            {
                "targets": keys,
                "summary": summary,
                "propose": True,
                "title": "Structural digest",
            }
        )
        transaction = record_edit(
            caller, self.session_id, digest, expected_head=self.expected_head
        )
        return {"summary": summary, "made_by": RULES, **present_edit(transaction)}


class RebuildState(SessionTool):
    """Get a new proposal for the STATE block (Goal, Context, Resolved, Technical Anchors).

    Use it after undo, drop_group or a smaller window, when the state may mention things that
    are gone. If a provider is set up, a model writes it from the current window (`made_by`
    names the model; after 20 seconds the answer is {"job_id"}). Otherwise it is the last STATE
    block that a response in the window ends with (`made_by` is `rules`); without one nothing
    is proposed. It is shown as a difference from the state in force. Nothing is changed; end
    your next response with a STATE block to put one in force.

    Example: {"session_id": "…"}
    """

    name = "rebuild_state"
    group = "context"
    reads_only = True
    is_paid_for = True

    def call(self, caller: Caller) -> dict[str, Any]:
        """The state in force, and what it would be. `status`: proposed, unchanged or none."""
        session = self.open_session(caller)
        found = rebuild_state(session)
        is_set = bool(choices(session.project, session)[0].provider)
        may_ask = caller.may(Right.PROPOSE, session.project_id)
        ordered = None
        if is_set and may_ask:
            ordered = services.order_state(caller, session.pk)
        if ordered is None:
            return _difference(
                found.text, found.in_force, RULES, found.status, found.key
            )
        made = _answer_of(caller, ordered.job)
        if "state" not in made:
            return made
        status = "unchanged" if made["state"] == made["previous"] else "proposed"
        return _difference(made["state"], made["previous"], made["made_by"], status)


def _difference(
    state: str, before: str, made_by: str, status: str, key: str | None = None
) -> dict[str, Any]:
    sides = (before.splitlines(), state.splitlines())
    lines = unified_diff(*sides, "in force", "proposed", lineterm="")
    return {
        "state": state,
        "key": key,
        "previous": before,
        "difference": "\n".join(lines) if status == "proposed" else "",
        "status": status,
        "made_by": made_by,
    }


def _answer_of(caller: Caller, job: Job) -> dict[str, Any]:
    """The result of a job, or its id if it takes long. Raises Conflict if it failed."""
    if connection.in_atomic_block:
        # With an idempotency key, the job is committed only with the answer: don't wait for it.
        return {"job_id": str(job.pk)}
    end = time.monotonic() + PATIENCE
    try:
        while (found := get_job(caller, job.pk)).status not in _ENDED:
            if time.monotonic() >= end:
                return {"job_id": str(job.pk)}
            time.sleep(_PAUSE)
    except FAULTS as error:
        # The job goes on: whoever is told that nothing was changed would order it again.
        if not is_outage(error):
            raise
        return {"job_id": str(job.pk)}
    if found.status == Job.Status.DONE:
        return dict(found.result or {})
    if found.status == Job.Status.FAILED:
        code = (found.result or {}).get("code", "job_failed")
        raise Conflict(found.error, code=str(code), facts={"job_id": str(job.pk)})
    return {"job_id": str(job.pk)}


TOOLS = (SummarizeMessageRange, RebuildState)
