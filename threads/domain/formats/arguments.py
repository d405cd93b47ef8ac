"""Arguments of tool calls: values to work with, and the texts in which models wrote them.

OpenAI's forms hold arguments as text, others as an object. A text is kept as it came: the order
of its members, its white space and its escapes are what a provider has cached, and what a model
trained on it learns to write. It is stored only if it differs from what we would write for the
value.
"""

import json
from typing import Any

from threads.domain.canonical import encode_quickly
from threads.domain.part import JSON, ToolCall

from .io import json_text


def read_call(id_: str, name: str, given: JSON) -> ToolCall:
    """A call whose arguments may have come as text: parsed if that is JSON, else verbatim.

    A JSON string also stays as it came, with its quotes, so that a str is always verbatim.
    """
    if not isinstance(given, str):
        return ToolCall(id_, name, given)
    value = parsed(given)
    if isinstance(value, str):
        return ToolCall(id_, name, value, value)
    return ToolCall(id_, name, value, given if _is_kept(given, value) else None)


def parsed(given: JSON) -> JSON:
    """The value of a JSON text; the text itself if it is not JSON, or is a JSON string."""
    if not isinstance(given, str):
        return given
    try:
        value = json_text.parse_strictly(given)
    except ValueError:
        return given
    return given if isinstance(value, str) else value


def _is_kept(text: str, value: JSON) -> bool:
    """Whether the text of arguments is stored beside their value."""
    if value and type(value) is dict and _is_compact(text, value):
        return True  # as most models write; we would write a space after each colon
    return json_text.dump(value) != _bytes(text) and says_only(text, value)


def says_only(text: str, value: JSON) -> bool:
    """Whether a JSON text says nothing that its parsed value doesn't hold.

    If a name occurs twice in an object, the value holds only the last member. The earlier one
    would be sent but never shown or masked.
    """
    if _is_compact(text, value):
        return True
    try:
        json.loads(text, object_pairs_hook=_once)
    except ValueError:
        return False
    return True


def text_of(call: ToolCall) -> str:
    """A call's arguments for a form that holds them as JSON text."""
    if call.text is not None:
        return call.text
    value = call.arguments
    if isinstance(value, str):
        value = object_of(value)
    return json_text.dump(value).decode()


def object_of(arguments: JSON) -> dict[str, Any]:
    """A call's arguments for a form that wants an object; any other value becomes its only member.

    The member is named `input`, as for a tool that takes any text in OpenAI's Responses, and as
    the only argument of Codex's `apply_patch` when it is called as a function.
    """
    if isinstance(arguments, dict):
        return arguments
    return {} if arguments in ("", None) else {"input": arguments}


def _is_compact(text: str, value: JSON) -> bool:
    """Whether a text is the value's JSON without white space."""
    try:
        return encode_quickly(value, is_sorted=False) == _bytes(text)
    except TypeError:
        return False  # a lone surrogate, or an integer of more than 64 bits


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("a name stands twice")
    return found
