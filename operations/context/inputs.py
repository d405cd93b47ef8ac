"""All that a session's request is made of, as it is now: thread, policy, layers, the model."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice, repeat
from typing import Any

from operations.domain.context.policy import Policy
from operations.domain.context.portions.request import PROVIDERS_IN_PORTIONS
from operations.domain.context.selection import Preference
from operations.domain.context.step import Count
from operations.domain.log.entry import CLIENT, Recorded
from operations.domain.log.operation import Redact, Tag
from operations.domain.providers.plain import Unread
from operations.domain.providers.request import Layer
from operations.domain.thread.thread import Thread
from operations.domain.tree.status import Status
from operations.log.cache import version_of
from operations.messages.reader import MessageReader
from threads import tokens
from threads.domain.message import Role
from threads.domain.part import Part, Text
from threads.models import Session

from .layers import Surroundings, load_layers
from .policies import pending_slice, policy_of

_QUESTIONS = 20
"""How many of the users' last messages are read at once, to find the last one with words."""
_STRATEGIES = {
    "anthropic": "anthropic",
    "bedrock": "anthropic",
    "gemini": "gemini",
}
"""The parsing strategy for what a provider's models write; `openai` for all others."""


@dataclass(frozen=True, kw_only=True)
class ContextInputs:
    """All that a request is made of."""

    session: Session
    reader: MessageReader
    """Reads the messages of the thread that is sent."""
    provider: str
    """One of `PROVIDERS`."""
    model: str
    policy: Policy
    preference: Preference | None
    layers: Sequence[Layer]
    """The layers other than the system prompt, with their words of now."""
    encoding: str
    """The token encoding in which everything is counted."""
    can_recall: bool
    """Whether the model has the tool `recall`; one without it is never told how to recall."""
    tools: Sequence[dict[str, Any]] = ()
    basis: Hashable = None
    """What the thread depends on, as the key of a cache; None: nothing made of it is cached."""
    plain: Sequence[Unread | None] = ()
    """By index, what is known of originals that need not be read to be sent."""

    @property
    def thread(self) -> Thread:
        """The thread that is sent."""
        return self.reader.thread

    @property
    def version(self) -> Hashable:
        """Inputs with equal versions make equal requests; None: it isn't known."""
        return self.basis and (
            *(self.basis, self.provider, self.model, self.can_recall),
            *(self.policy, self.preference, tuple(self.layers)),
        )

    @property
    def chooses(self) -> bool:
        """Whether the policy or a slice leaves out, cuts or marks any of what the thread shows."""
        policy = self.policy
        steps = policy.window or policy.isolation or policy.truncation or policy.markers
        return bool(steps or self.preference)

    @property
    def unread(self) -> Sequence[Unread | None]:
        """`plain`, or nothing where all words are needed after all.

        They are where a step chooses by them, where they are counted in another encoding, and
        where the provider's rules look at all messages together.
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

        They are where nobody else's operation applies, the policy changes nothing, and there are
        no layers.
        """
        edits = self.thread.log.edits
        return not (
            self.chooses
            or self.layers
            or any(
                outcome.status is Status.APPLIED and _changes(edits[number])
                for number, outcome in self.thread.outcomes.items()
            )
        )


def _changes(recorded: Recorded) -> bool:
    """Whether an edit that applies changes what the client sends.

    What the client itself did is in its request already, so of its edits only redactions do.
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
    plain: Sequence[Unread | None] = (),
) -> ContextInputs:
    """What a session's request is made of now.

    `actor` is the caller whose slice it is made of, if one waits. `policy` is tried in place of
    the one in force. `encoding` is by default the model's own. `can_recall` is by default as the
    session's last request had it; before the first, a model can.
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
        basis=basis,
        plain=plain,
    )


def strategy_of(provider: str) -> str:
    """The parsing strategy in whose form a provider's calls are recorded."""
    return _STRATEGIES.get(provider, "openai")


def counter_of(encoding: str) -> Count:
    """Counts messages in an encoding, as those of a session were counted."""

    def count(parts: Sequence[Part]) -> int:
        return tokens.count_again(parts, encoding)

    return count


def basis_of(session: Session, thread: Thread) -> Hashable:
    """What a session's own thread follows from."""
    version = version_of(session)._replace(
        head=thread.head, message_count=thread.message_count
    )
    return version, tuple(sorted(thread.active_tags))


def last_question(reader: MessageReader) -> str:
    """The last words of a user, as the model reads them; empty where there are none."""
    asked = (
        shown.key for shown in reader.thread.from_the_end() if shown.role == Role.USER
    )
    sizes = chain((1,), repeat(_QUESTIONS))
    while batch := list(islice(asked, next(sizes))):
        for said in reader.effective(batch).values():
            texts = [part.text for part in said.parts if isinstance(part, Text)]
            if texts:
                return "\n".join(texts)
    return ""
