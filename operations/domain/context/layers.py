"""The layers before the history, in their order."""

import re
from collections.abc import Iterable

from operations.domain.providers.request import PROMPT, Injected, Layer, Outgoing
from threads.domain.formats.requests import SYSTEM_GAP
from threads.domain.part import Text

from .step import Count, weigh

SYSTEM, GUIDELINES, STATE, SCRATCHPAD, MEMOS = ORDER = (
    *(PROMPT, "guidelines", "state", "scratchpad", "memos"),
)
GUIDELINES_TEXT = """\
## How to read this conversation

- What follows is the history in the order in which it happened. Older messages may be folded \
into a summary, cut short, or left out; what says TRUNCATED can be read whole with `recall`.
- `search_session_history` and `query_db` find what is no longer shown. Leave out rows whose \
status is `dropped`: they were taken back.
- End each response with a block of state, and carry over what still holds:

### STATE
Goal: [what this task is for]
Context: [files and classes at work]
Resolved: [what is done]
Technical Anchors: [ports, addresses, constants]

- Check memos before you assume how something is built. Record with `save_memo` what was hard \
to find or was decided, and nothing that the code says by itself."""
_WITH_TOOLS = re.compile(
    r"; what says TRUNCATED[^.\n]*"
    r"|\n- `search_session_history`[^\n]*"
    r"| Record with `save_memo`[^\n]*"
)
_SCRATCHPAD_HEADING = "## Scratchpad"


def layer(
    name: str, text: str, count: Count, injected: tuple[Injected, ...] = ()
) -> Layer:
    """Make a layer of this text."""
    tokens = count((Text(text),))
    return Layer(name=name, text=text, tokens=tokens, injected=injected)


def guidelines_text(*, can_recall: bool) -> str:
    """The guidelines as the model reads them; tools are mentioned only if the model has them.

    A client that has `recall` has the other tools too, because all of them are offered together.
    """
    return GUIDELINES_TEXT if can_recall else _WITH_TOOLS.sub("", GUIDELINES_TEXT)


def scratchpad_text(content: str) -> str:
    """The scratchpad as the model reads it."""
    return f"{_SCRATCHPAD_HEADING}\n\n{content}"


def system_layer(messages: Iterable[Outgoing]) -> Layer | None:
    """The system messages at the top as a layer; None if there are none."""
    found = list(messages)
    if not found:
        return None
    texts = [
        SYSTEM_GAP.join(part.text for part in message.parts if isinstance(part, Text))
        for message in found
    ]
    return Layer(
        name=SYSTEM,
        text=SYSTEM_GAP.join(texts),
        tokens=weigh(found),
        keys=tuple(message.key for message in found),
    )


def in_order(layers: Iterable[Layer]) -> list[Layer]:
    """The layers in the order in which they are sent, without empty ones."""
    return sorted(
        (layer for layer in layers if layer.text or layer.keys),
        key=lambda layer: ORDER.index(layer.name),
    )
