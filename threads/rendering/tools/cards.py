"""What a call of a tool asks for, as a card: one line that says it, and the rest below.

Each kind takes the arguments it knows how to show and leaves the others, which stand below as
they are; where what it needs is missing or of another type, the card is the JSON.
"""

import json
from dataclasses import replace
from functools import partial
from typing import Any

from threads.rendering.cut import one_line
from threads.rendering.safe import escape
from threads.rendering.text import diff, json_tree, output

from .arguments import Arguments
from .card_kinds import CARDS, Card, patched
from .tool_names import family

SHORT = 80
MOST_SHORT = 6
"""Characters and number of the other arguments that stand on one line."""


def card(name: str, arguments: Any) -> Card:
    """The card of a call; `arguments` is JSON, or a string where the model wrote none."""
    if isinstance(arguments, str):
        return _words_only(arguments)
    if not isinstance(arguments, dict):
        return Card(bodies=(partial(json_tree.render, arguments),))
    given = Arguments(arguments)
    make = CARDS.get(family(name) or "")
    made = make(given) if make else None
    if made is None:
        return _json(arguments)
    rest = given.rest()
    return (
        replace(made, bodies=(*made.bodies, partial(_others, rest))) if rest else made
    )


def _json(arguments: dict[str, Any]) -> Card:
    bodies = (partial(json_tree.render, arguments),) if arguments else ()
    return Card(_preview(arguments), bodies=bodies)


def _words_only(text: str) -> Card:
    if not text.strip():
        return Card()
    if diff.is_patch(text):
        return patched(text)
    return Card(one_line(text), bodies=(partial(output.render, text),))


def _others(rest: dict[str, Any]) -> str:
    """Arguments that the card has no place for: in one line where they are few and short."""
    short = not any(
        isinstance(value, dict | list)
        or (isinstance(value, str) and len(value) > SHORT)
        for value in rest.values()
    )
    if len(rest) > MOST_SHORT or not short:
        return json_tree.render(rest)
    shown = ", ".join(
        f'<span class="key">{escape(name[:SHORT])}</span> {escape(_word(value))}'
        for name, value in rest.items()
    )
    return f'<p class="arguments">{shown}</p>'


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _preview(arguments: dict[str, Any]) -> str:
    """The first argument that is a short string or a number, for the line of a plain card."""
    for value in arguments.values():
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return ""
