"""The layers of a session; other apps register what they put before the history."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from operations.domain.context import layers
from operations.domain.context.policy import Policy
from operations.domain.context.step import Count
from operations.domain.providers.request import Injected, Layer
from operations.domain.thread.thread import Thread
from operations.messages.reader import mask_text
from operations.notes.scratchpads import load_scratchpad
from operations.notes.states import current_state
from threads.models import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the text of a layer may depend on."""

    session: Session
    thread: Thread
    policy: Policy
    can_recall: bool
    """Whether the model can recall."""
    question: Callable[[], str]
    """Reads the user's last message as the model does; empty if there is none."""


class LayerWords(NamedTuple):
    """The text of a layer; empty if the session has none."""

    text: str
    injected: tuple[Injected, ...] = ()
    """The pieces that were chosen for it, and why."""


Provide = Callable[[Surroundings], LayerWords]

_providers: dict[str, Provide] = {}


def register_layer(name: str, provide: Provide) -> None:
    """Register the provider of a layer, one of `operations.domain.context.layers.ORDER`."""
    if name not in layers.ORDER:
        raise ValueError(f"{name} is none of {', '.join(layers.ORDER)}")
    _providers[name] = provide


def load_layers(surroundings: Surroundings, count: Count) -> list[Layer]:
    """The layers other than the system prompt, in order and with redactions masked."""
    found = [
        layers.layer(
            name, mask_text(surroundings.session, words.text), count, words.injected
        )
        for name, provide in _providers.items()
        if (words := provide(surroundings)).text
    ]
    return layers.in_order(found)


def _guidelines(surroundings: Surroundings) -> LayerWords:
    if not surroundings.policy.guidelines:
        return LayerWords("")
    return LayerWords(layers.guidelines_text(can_recall=surroundings.can_recall))


def _state(surroundings: Surroundings) -> LayerWords:
    state = current_state(surroundings.session, surroundings.thread)
    return LayerWords(state.text if state else "")


def _scratchpad(surroundings: Surroundings) -> LayerWords:
    content = load_scratchpad(surroundings.session).content
    return LayerWords(layers.scratchpad_text(content) if content.strip() else "")


register_layer(layers.GUIDELINES, _guidelines)
register_layer(layers.STATE, _state)
register_layer(layers.SCRATCHPAD, _scratchpad)
