"""Everything that a session's request is made of now: thread, policy, layers and model."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice, repeat
from typing import Any

from operations.domain.context.epochs import NO_EPOCHS, Epochs
from operations.domain.context.policy import Policy
from operations.domain.context.portions.request import PROVIDERS_IN_PORTIONS
from operations.domain.context.selection import Preference
from operations.domain.context.step import Count
from operations.domain.log.entry import CLIENT, RecordedEdit
from operations.domain.log.operation import Redact, Tag
from operations.domain.providers.plain import UnreadMessage
from operations.domain.providers.request import Layer
from operations.domain.thread.thread import Thread
from operations.domain.tree.status import Status
from operations.log.cache import version_of
from operations.messages.reader import MessageReader
from threads import tokens
from threads.domain.message import Role
from threads.domain.part import Part, Text
from threads.models import Session

from .epochs import epochs_of
from .layers import Surroundings, load_layers
from .policies import pending_slice, policy_of

_QUESTIONS = 20
"""How many user messages are read at once, searching backwards for the last one with text."""
_STRATEGIES = {
    "anthropic": "anthropic",
    "bedrock": "anthropic",
    "gemini": "gemini",
}
"""The parsing strategy of each provider's models; `openai` for all others."""


@dataclass(frozen=True, kw_only=True)
class ContextInputs:
    """Everything that a request is made of."""

    session: Session
    reader: MessageReader
    """Reads the messages of the thread that is sent."""
    provider: str
    """One of `PROVIDERS`."""
    model: str
    policy: Policy
    preference: Preference | None
    layers: Sequence[Layer]
    """The layers other than the system prompt, with their current text."""
    encoding: str
    """The token encoding in which everything is counted."""
    can_recall: bool
    """Whether the model has the tool `recall`. A model without it is never told how to recall."""
    tools: Sequence[dict[str, Any]] = ()
    epochs: Epochs = NO_EPOCHS
    """What was sent so far, if the provider's signatures depend on it."""
    basis: Hashable = None
    """What the thread depends on, as a cache key; None if nothing made from it may be cached."""
    plain: Sequence[UnreadMessage | None] = ()
    """By index, the originals that needn't be read to be sent; None for the others."""

    @property
    def thread(self) -> Thread:
        """The thread that is sent."""
        return self.reader.thread

    @property
    def version(self) -> Hashable:
        """Inputs with equal versions make equal requests; None if the version isn't known."""
        return self.basis and (
            *(self.basis, self.provider, self.model, self.can_recall),
            *(self.policy, self.preference, tuple(self.layers), self.epochs),
        )

    @property
    def chooses(self) -> bool:
        """Whether the policy or a slice leaves out, cuts or marks any of the thread."""
        policy = self.policy
        steps = policy.window or policy.isolation or policy.truncation or policy.markers
        return bool(steps or self.preference)

    @property
    def unread(self) -> Sequence[UnreadMessage | None]:
        """`plain`, or empty if all contents are needed after all.

        They are needed if a step depends on them, if they are counted in another encoding, or if
        the provider's rules look at all messages together.
        """
        reads_all = (
            self.chooses
            or self.encoding != self.session.encoding
            or self.provider not in PROVIDERS_IN_PORTIONS
        )
        return () if reads_all else self.plain

    @property
    def passes_through(self) -> bool:
        """Whether all messages are sent as the client gives them.

        That is so if no operation but the client's applies, the policy changes nothing, and there
        are no layers. Once anything else was sent, signatures have to be looked at.
        """
        edits = self.thread.log.edits
        return not (
            self.chooses
            or self.layers
            or self.epochs.changed
            or any(
                outcome.status is Status.APPLIED and _changes(edits[number])
                for number, outcome in self.thread.outcomes.items()
            )
        )


def _changes(recorded: RecordedEdit) -> bool:
    """Whether an edit that applies changes what the client sends.

    The client's own changes are already in its request, so of its edits only redactions do.
    """
    if recorded.entry.actor == CLIENT:
        return isinstance(recorded.edit, Redact)
    return not isinstance(recorded.edit, Tag)


def inputs_of(
    session: Session,
    reader: MessageReader,
    provider: str,
    *,
    model: str = "",
    policy: Policy | None = None,
    tools: Sequence[dict[str, Any]] = (),
    encoding: str = "",
    basis: Hashable = None,
    actor: str = "",
    can_recall: bool | None = None,
    plain: Sequence[UnreadMessage | None] = (),
) -> ContextInputs:
    """What a session's request is made of now.

    `actor` is the caller whose pending slice is used, if there is one. `policy` is tried instead
    of the one in force. `encoding` defaults to the model's own. `can_recall` defaults to its
    value in the session's last request, or True before the first.
    """
    chosen, model = policy or policy_of(session), model or session.model
    if can_recall is None:
        can_recall = session.can_recall is not False
    if not encoding:
        encoding = tokens.encoding_for(model) if model else session.encoding
    surroundings = Surroundings(
        session=session,
        thread=reader.thread,
        policy=chosen,
        can_recall=can_recall,
        question=cache(partial(last_question, reader)),
    )
    return ContextInputs(
        session=session,
        reader=reader,
        provider=provider,
        model=model,
        policy=chosen,
        preference=pending_slice(session, actor),
        layers=load_layers(surroundings, counter_of(encoding)),
        encoding=encoding,
        can_recall=can_recall,
        tools=tools,
        epochs=epochs_of(session, provider),
        basis=basis,
        plain=plain,
    )


def strategy_of(provider: str) -> str:
    """The parsing strategy under which a provider's calls are recorded."""
    return _STRATEGIES.get(provider, "openai")


def counter_of(encoding: str) -> Count:
    """A counter for an encoding that counts messages in the same way as a session's."""

    def count(parts: Sequence[Part]) -> int:
        return tokens.count_again(parts, encoding)

    return count


def basis_of(session: Session, thread: Thread) -> Hashable:
    """The cache key of a session's own thread."""
    version = version_of(session)._replace(
        head=thread.head, message_count=thread.message_count
    )
    return version, tuple(sorted(thread.active_tags))


def last_question(reader: MessageReader) -> str:
    """The last user message with text, as the model reads it; empty if there is none."""
    asked = (
        shown.key
        for shown in reader.thread.effective_reversed()
        if shown.role == Role.USER
    )
    sizes = chain((1,), repeat(_QUESTIONS))
    while batch := list(islice(asked, next(sizes))):
        for said in reader.effective(batch).values():
            texts = [part.text for part in said.parts if isinstance(part, Text)]
            if texts:
                return "\n".join(texts)
    return ""
