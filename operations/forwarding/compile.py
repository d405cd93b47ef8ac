"""What goes out in place of a client's messages: the same steps as a context (DESIGN 4, Hook).

Where no operation applies and the policy asks for nothing, everything passes as it was given.
Where one does, the request is compiled for its format. What the rules of the provider leave
alone goes out by the one rule that exports share (decision 0022), else the compiled messages
do, with the client's own wherever nothing touches them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from operations.context.layers import Surroundings, load_layers
from operations.context.policies import policy_of
from operations.context.services import (
    compile_step,
    counter_of,
    draft_of,
    results_left_out,
)
from operations.context.slices import pending_slice
from operations.domain.context.assembly import (
    Assembly,
    Plan,
    Spoken,
    assemble,
    outgoings,
)
from operations.domain.context.layers import SYSTEM
from operations.domain.context.policy import Policy
from operations.domain.context.selection import Preference
from operations.domain.context.step import Step
from operations.domain.forwarding.alignment import Unit
from operations.domain.forwarding.passthrough import pass_through
from operations.domain.forwarding.rewriting import Request, rewrite
from operations.domain.providers import compile_request
from operations.domain.providers.outgoing import Layer
from operations.domain.providers.request import Compiled, Issue, Severity
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.domain.tree.status import Status
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Session

_PAIRS, _OPENING = "R1", "R4"
"""What the form alone doesn't see to: calls with their results, and who speaks first."""
Words = Callable[[Sequence[Key]], Mapping[Key, Message]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What to send. Figures are tokens."""

    messages: list[dict[str, Any]]
    system: Any
    before: int
    after: int
    issues: Sequence[Issue] = ()
    steps: Sequence[Step] = ()
    wanted: "Wanted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """A request on its way out: the thread over what came in, and how it came in."""

    session: Session
    thread: Thread
    format: str
    """`openai` or `anthropic`."""
    model: str
    tools: Sequence[dict[str, Any]]
    request: Request
    units: Sequence[Unit]
    words: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What else than the thread makes the context."""

    policy: Policy
    preference: Preference | None
    layers: Sequence[Layer]
    question: str
    """What the user said last, on which layers may depend."""

    @property
    def anything(self) -> bool:
        """Whether more is to be done than to replay."""
        policy = self.policy
        steps = policy.window or policy.isolation or policy.truncation or policy.markers
        return bool(steps or self.preference or self.layers)


def send(outbound: Outbound) -> Sent:
    """What to send. Raises Invalid (`refused`) where the provider would take no form of it."""
    thread, wanted = outbound.thread, _wanted(outbound)
    applied = any(one.status is Status.APPLIED for one in thread.operations)
    if not applied and not wanted.anything:
        written = _rewritten(outbound)
        total = thread.tokens.original
        return Sent(
            messages=written[0],
            system=written[1],
            before=total,
            after=total,
            wanted=wanted,
        )
    assembly = _assembly(outbound, wanted)
    draft = draft_of(
        outbound.session,
        assembly,
        outbound.model,
        tools=outbound.tools,
        left_out=results_left_out(outbound.session, thread, assembly),
    )
    compiled = compile_request(outbound.format, draft)
    _refuse(compiled)
    messages, system = (
        _compiled(outbound, assembly, compiled)
        if wanted.anything or _is_repaired(compiled)
        else _rewritten(outbound)
    )
    steps = [*assembly.steps, compile_step(assembly, compiled)]
    return Sent(
        messages=messages,
        system=system,
        before=assembly.total,
        after=steps[-1].after,
        issues=compiled.issues,
        steps=steps,
        wanted=wanted,
    )


def _wanted(outbound: Outbound) -> Wanted:
    session, policy = outbound.session, policy_of(outbound.session)
    question = _question(outbound)
    surroundings = Surroundings(
        session=session, thread=outbound.thread, policy=policy, question=question
    )
    return Wanted(
        policy=policy,
        preference=pending_slice(session),
        layers=load_layers(surroundings, counter_of(session.encoding)),
        question=question,
    )


def _question(outbound: Outbound) -> str:
    shown = [one.key for one in outbound.thread.effective() if one.role == Role.USER]
    for message in outbound.words(shown[-1:]).values() if shown else ():
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        return "\n".join(texts)
    return ""


def _assembly(outbound: Outbound, wanted: Wanted) -> Assembly:
    count = counter_of(outbound.session.encoding)
    keys = [shown.key for shown in outbound.thread.effective()]
    strategy = outbound.session.parsing_strategy
    spoken = {
        key: Spoken(message.parts, strategy, message.name)
        for key, message in outbound.words(keys).items()
    }
    plan = Plan(
        count=count,
        strategy=outbound.format,
        policy=wanted.policy,
        preference=wanted.preference,
        layers=wanted.layers,
    )
    messages = outgoings(outbound.thread, spoken, count)
    return assemble(outbound.thread, messages, plan)


def _rewritten(outbound: Outbound) -> tuple[list[dict[str, Any]], Any]:
    written = rewrite(outbound.thread, outbound.units, outbound.request, outbound.words)
    return written.messages, written.system


def _refuse(compiled: Compiled) -> None:
    refused = [one for one in compiled.issues if one.severity is Severity.REFUSED]
    if refused:
        raise Invalid(
            refused[0].detail,
            at=["messages"],
            code="refused",
            errors=[
                Invalid(
                    one.detail,
                    at=["messages"],
                    code=one.rule,
                    facts={"keys": list(one.keys)},
                )
                for one in refused
            ],
        )


def _is_repaired(compiled: Compiled) -> bool:
    return any(
        one.severity is Severity.REPAIRED and one.rule in (_PAIRS, _OPENING)
        for one in compiled.issues
    )


def _compiled(
    outbound: Outbound, assembly: Assembly, compiled: Compiled
) -> tuple[list[dict[str, Any]], Any]:
    """The compiled messages, the client's own wherever nothing touches them."""
    own = [layer for layer in assembly.layers if layer.name == SYSTEM]
    is_prompt = len(own) == len(assembly.layers) == 1
    origins: list[Sequence[Key]] = list(compiled.origins)
    if is_prompt and compiled.system is None and not origins[0]:
        origins[0] = own[0].keys
    plain = {
        message.key
        for message in assembly.messages
        if message.index is not None and not message.changed
    }
    plain |= (
        {key for key in own[0].keys if not outbound.thread.spans(key)} if own else set()
    )
    repaired = {
        key
        for issue in compiled.issues
        if issue.severity is Severity.REPAIRED
        for key in issue.keys
    }
    messages = pass_through(
        compiled.messages,
        origins,
        outbound.units,
        outbound.request.messages,
        lambda key: key not in plain or key in repaired,
    )
    same = is_prompt and plain.issuperset(own[0].keys)
    system = outbound.request.system if same else compiled.system
    return list(messages), system
