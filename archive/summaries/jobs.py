"""The jobs that call models: summarise a range, write STATE from a window, test a provider."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from archive.domain.summaries import prompts
from archive.domain.summaries.answers import answer_in
from archive.domain.summaries.providers import Choice
from archive.domain.summaries.retention import check_retention
from archive.domain.summaries.said import Utterance, message_as_text, split_into_parts
from archive.domain.summaries.structural import structural_digest
from contextstudio.accounts.domain.errors import Conflict, DomainError
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.jobs import JobContext
from operations.context.services import ContextQuery, assemble_session
from operations.domain.context.state import State, extract
from operations.edits.arguments import DigestArguments
from operations.edits.schemas import present_edit
from operations.edits.services import record_edit
from operations.log.selectors import load_thread
from operations.messages.reader import mask_text
from operations.notes.states import current_state
from threads import tokens
from threads.models import Session
from threads.store.events import announce_job
from threads.store.selectors import get_session

from .calling import CallFailed, ModelCall, call_model
from .choosing import choices
from .making import Summariser, refusal
from .providers import targets_of
from .reading import utterances_of

SUMMARY = "summary"
STATE = "state"
TEST = "test provider"
MAX_LISTED = 500
"""Most dropped mentions that a result lists."""
MAX_OBJECTIVE_LENGTH = 500
_TEST_SECONDS = 30
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryOrder:
    """The order for a summary, as the job stores it."""

    session_id: str
    keys: list[str]
    provider: str
    """As requested; if empty, the settings decide, or the fastest is taken."""
    model: str
    instructions: str = ""
    propose: bool = False
    record: bool = True
    """Whether it becomes a digest; otherwise it is only returned, for a person to edit."""
    automatic: int = 0
    """For an automatic summary, the number of messages at that time; otherwise 0."""

    def arguments(self) -> dict[str, Any]:
        return asdict(self)


def run_summary(context: JobContext, **arguments: Any) -> dict[str, Any]:
    """Make a summary, check it, and record it as a digest in the job's final transaction."""
    order = SummaryOrder(**arguments)
    session = get_session(context.caller, uuid.UUID(order.session_id), Right.PROPOSE)
    thread = load_thread(session)
    messages = utterances_of(session, thread, order.keys)
    count = tokens.counter(session.encoding)
    counted = tokens.count_messages([one.parts for one in messages], session.encoding)
    replaced = sum(map(sum, counted))
    choice, summary, used = _make_summary(
        context, session, order, messages, replaced, count=count
    )
    retention = check_retention(messages, summary)
    result: dict[str, Any] = {
        "operation_id": None,
        "summary": summary,
        "made_by": choice.name,
        "why": choice.why,
        "retained": retention.retained,
        "dropped": [one._asdict() for one in retention.dropped[:MAX_LISTED]],
        "dropped_count": len(retention.dropped),
        "tokens": {
            "before": thread.tokens_shown(order.keys),
            "after": count(summary),
            **used,
        },
        "cost": used.pop("cost"),
    }
    result["tokens"].pop("cost")
    if order.record:
        context.on_finish(lambda: _record(context, order, result))
    return result


def run_state(context: JobContext, *, session_id: str) -> dict[str, Any]:
    """Have a model write STATE from the window that is sent; nothing is changed.

    The goal in it is returned as a suggestion for the session's objective.
    """
    session = get_session(context.caller, uuid.UUID(session_id), Right.PROPOSE)
    window = assemble_session(session, ContextQuery())
    before = current_state(session, window.thread)
    in_force = before.text if before else ""
    messages = [
        Utterance(one.key, one.role, one.parts) for one in window.assembly.messages
    ]
    if not messages:
        raise Conflict(
            "There is nothing to read STATE from: the window holds no messages.",
            code="messages_gone",
        )
    count = tokens.counter(session.encoding)

    def make(summariser: Summariser) -> State:
        texts = [message_as_text(message) for message in messages]
        text = in_force
        for number, part in enumerate(
            split_into_parts(texts, summariser.part_size(), count)
        ):
            asked = prompts.state(part, text)
            text = summariser.ask(f"state {number}", asked, 1_000)
        found = extract(text)
        if found is None:
            why = "The model did not answer with a STATE block."
            raise summariser.refused(why, text)
        return found

    choice, found, spent = _first_working(context, session, "", "", make)
    return {
        "state": found.text,
        "objective": found.goal[:MAX_OBJECTIVE_LENGTH],
        "previous": in_force,
        "made_by": choice.name,
        "why": choice.why,
        "tokens": {"input": spent["input"], "output": spent["output"]},
        "cost": spent["cost"],
    }


def run_test(context: JobContext, *, provider: str, model: str) -> dict[str, Any]:
    """Ask a provider for one word. Raises Conflict with the reason if the call fails."""
    target = targets_of(context.project).get(provider)
    if target is None:
        raise Conflict("The provider is no longer set up.", code="provider_not_set")
    said: list[str] = []
    if target.api_key:
        context.pay(f"a call to {target.provider.label}")
    try:
        usage = call_model(
            ModelCall(
                form=target.provider.form,
                model=model,
                base_url=target.base_url,
                api_key=target.api_key,
                messages=[{"role": "user", "content": "Answer with the word: ready"}],
                max_tokens=16,
                timeout=_TEST_SECONDS,
                private=target.private,
            ),
            on_text=said.append,
            tick=lambda: context.progress(0, total=1, unit="calls"),
        )
    except CallFailed as failed:
        raise refusal(target, failed) from failed
    text = answer_in("".join(said))[:200]
    return {
        "provider": provider,
        "model": model,
        "answer": text,
        "tokens": {"input": usage.input, "output": usage.output},
    }


def _make_summary(
    context: JobContext,
    session: Session,
    order: SummaryOrder,
    messages: Sequence[Utterance],
    replaced: int,
    *,
    count: Callable[[str], int],
) -> tuple[Choice, str, dict[str, Any]]:
    def make(summariser: Summariser) -> str:
        return summariser.summary_of(
            messages, count=count, replaced=replaced, wish=order.instructions
        )

    return _first_working(
        context,
        session,
        order.provider,
        order.model,
        make,
        rules=lambda: structural_digest(messages),
    )


def _first_working(
    context: JobContext,
    session: Session,
    provider: str,
    model: str,
    make: Callable[[Summariser], Made],
    *,
    rules: Callable[[], Made] | None = None,
) -> tuple[Choice, Made, dict[str, Any]]:
    """Call `make` with the first model that works; returns the choice, the result and the usage.

    A provider that lacks the model, or refuses its key, is skipped unless it was chosen
    explicitly. Raises Conflict with the first failure if none works.
    """
    failures: list[Conflict] = []
    targets = targets_of(session.project)
    for choice in choices(session.project, session, provider=provider, model=model):
        if not choice.provider:
            break
        target = targets[choice.provider]
        context.note(by=choice.name, why=choice.why)
        summariser = Summariser(
            context,
            choice,
            target,
            gate=lambda: get_session(context.caller, session.pk, Right.PROPOSE),
            announce=lambda: announce_job(session.pk, context.job_id),
        )
        try:
            text = make(summariser)
        except CallFailed as failed:
            failures.append(refusal(target, failed))
            continue
        spent = summariser.spent
        cost = None if spent.cost is None else str(spent.cost)
        told = [one.message for one in failures]
        chosen = choice._replace(why=" ".join([choice.why, *told]))
        used = {"input": spent.input, "output": spent.output, "cost": cost}
        return chosen, text, used
    if failures:
        raise failures[0]
    if rules is None:
        raise Conflict("No provider is set up.", code="provider_not_set")
    return choice, rules(), {"input": 0, "output": 0, "cost": None}


def _record(context: JobContext, order: SummaryOrder, result: dict[str, Any]) -> None:
    """Record the digest; if it no longer fits, the error carries the summary that was paid for."""
    session_id = uuid.UUID(order.session_id)
    session = get_session(context.caller, session_id, Right.PROPOSE, lock=True)
    # Mask what was redacted since the model read it.
    result["summary"] = mask_text(session, result["summary"])
    kind = "Automatic summary" if order.automatic else "Summary"
    digest = DigestArguments.model_validate(
        {
            "targets": order.keys,
            "summary": result["summary"],
            "propose": order.propose,
            "title": f"{kind} by {result['made_by']}",
        }
    )
    try:
        recorded = record_edit(context.caller, session_id, digest)
    except DomainError as error:
        error.facts["summary"] = result["summary"]
        raise
    answer = present_edit(recorded)
    names = ("operation_id", "key", "head", "resolved", "status", "warnings")
    result.update({name: answer[name] for name in names})


KINDS = (
    (SUMMARY, run_summary, "Summary", Right.PROPOSE),
    (STATE, run_state, "State from the window", Right.PROPOSE),
    (TEST, run_test, "Test of a provider", Right.EDIT),
)
"""Each kind with its function, its title on pages, and the right that it needs."""
