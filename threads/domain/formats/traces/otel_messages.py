"""Reads the messages of a request to a model from the attributes of an OpenTelemetry span.

Four conventions are read, the newest first: OpenTelemetry's own (`gen_ai.input.messages`, formerly
events such as `gen_ai.user.message`), OpenInference's (`llm.input_messages.0.message.role`),
OpenLLMetry's (`gen_ai.prompt.0.role`) and the AI SDK's (`ai.prompt.messages`); else the whole input
and output as text.

Sources: opentelemetry.io/docs/specs/semconv/gen-ai, Arize openinference `spec/`, Traceloop
openllmetry `semconv_ai`, vercel/ai `telemetry`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from threads.domain.formats.io import fields
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON

from . import shapes
from .trace_steps import GENERATION, OTHER, TOOL, StepMessages

Tree = dict[str, Any]
"""Attributes as a tree, by the steps of their dotted names."""
_WHOLE = re.compile("-?[0-9]{1,20}")
STEPS = 16
"""The most steps in one key; the rest of a longer key is one name with dots in it."""
REQUESTS = frozenset(
    {"chat", "text_completion", "generate_content", "completion", "llm"}
)
TOOLS = frozenset({"execute_tool", "tool"})
KIND_NAMES = (
    *("gen_ai.operation.name", "openinference.span.kind", "llm.request.type"),
    "traceloop.span.kind",
)
INPUTS = (
    *("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt", "llm.prompts"),
    *("ai.prompt.messages", "ai.prompt"),
)
OUTPUTS = (
    *("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion"),
    "llm.completions",
)
WHOLE = (
    ("input.value", "traceloop.entity.input", "langfuse.observation.input"),
    ("output.value", "traceloop.entity.output", "langfuse.observation.output"),
)
LOGGED = ("events", "all_messages_events", "pydantic_ai.all_messages")
"""Attributes in which pydantic-ai stores messages (`events`) or a whole run."""
WRAPPERS = frozenset({"message", "tool_call", "message_content"})
"""OpenInference objects whose only member has one of these names."""
MODELS = (
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.model.id",
)
USAGE = {
    "input_tokens": (
        *("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        *("llm.token_count.prompt", "ai.usage.promptTokens", "ai.usage.inputTokens"),
    ),
    "output_tokens": (
        *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        *("llm.token_count.completion", "ai.usage.completionTokens"),
        "ai.usage.outputTokens",
    ),
    "cached_tokens": (
        *("gen_ai.usage.cache_read.input_tokens", "ai.usage.cachedInputTokens"),
        *("gen_ai.usage.cache_read_input_tokens",),
        "llm.token_count.prompt_details.cache_read",
    ),
}


def kind(tree: Tree) -> str:
    """The kind of a span: a request to a model, a tool execution, or something around them."""
    said = {str(get(tree, name)).lower() for name in KIND_NAMES}
    operation = word(tree, "ai.operationId")
    if said & TOOLS or get(tree, "ai.toolCall.name"):
        return TOOL
    if said & REQUESTS or operation.endswith((".doGenerate", ".doStream")):
        return GENERATION
    is_named = said != {"none"} or operation
    return GENERATION if not is_named and get(tree, *INPUTS, *OUTPUTS) else OTHER


def usage(tree: Tree) -> Usage | None:
    """The tokens that the span reports."""
    counts = {
        name: next((n for key in keys if (n := _count(get(tree, key)))), 0)
        for name, keys in USAGE.items()
    }
    return Usage(**counts) if any(counts.values()) else None


def said(tree: Tree, events: Sequence[tuple[str, Tree]], of: str) -> StepMessages:
    """The input and output of a span; `events` are the span's events, as name and attributes."""
    for _, inner in events:
        if get(inner, "gen_ai.input.messages", "gen_ai.output.messages"):
            for name, value in inner.items():
                put(tree, [name], value)
    inputs = _listed(get(tree, *INPUTS), Role.USER, of)
    outputs = _outputs(tree, of)
    system = get(tree, "gen_ai.system_instructions")
    if system and not any(m.role is Role.SYSTEM for m in inputs):
        inputs = [*shapes.read_messages(system, Role.SYSTEM), *inputs]
    if inputs or outputs:
        return StepMessages(inputs, outputs)
    given, gave = (get(tree, *names) for names in WHOLE)
    return _from_events(tree, events) or StepMessages(
        _read(given, Role.USER, of), _read(gave, Role.ASSISTANT, of)
    )


def _outputs(tree: Tree, of: str) -> list[Message]:
    found = _listed(get(tree, *OUTPUTS), Role.ASSISTANT, of)
    if not found and (answer := get(tree, "ai.response")):
        message = {
            "role": "assistant",
            "content": fields.text(answer, "text", "object"),
            "reasoning": fields.text(answer, "reasoning"),
            "tool_calls": shapes.unwrapped(fields.mapping(answer).get("toolCalls")),
        }
        found = shapes.read_messages([message], Role.ASSISTANT)
    return found


def _listed(value: JSON, role: Role, of: str) -> list[Message]:
    """Messages in the shape of any of the conventions."""
    if isinstance(value, dict) and all(key.isdecimal() for key in value if key):
        value = [value[key] for key in sorted((k for k in value if k), key=_number)]
    return _read(_with_role(_unwrapped(shapes.unwrapped(value)), role), role, of)


def _with_role(value: JSON, role: Role) -> JSON:
    """A list of messages, with the role added to messages that have none."""
    if not isinstance(value, list):
        return value
    return [
        {"role": role, **one}
        if isinstance(one, dict) and "role" not in one and "content" in one
        else one
        for one in value
    ]


def _unwrapped(value: JSON) -> JSON:
    """OpenInference's messages without their wrapper objects."""
    if isinstance(value, list):
        return [_unwrapped(one) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and value.keys() <= WRAPPERS:
        return _unwrapped(next(iter(value.values())))
    if value and all(key.isdecimal() for key in value):
        return [_unwrapped(value[key]) for key in sorted(value, key=_number)]
    found = {name: _unwrapped(inner) for name, inner in value.items()}
    if found.get("contents"):
        found["content"] = found.pop("contents")
    picture = fields.mapping(found, "image")
    url = fields.text(fields.mapping(picture, "image"), "url")
    url = url or fields.text(picture, "url")
    return {"type": "image", "url": url} if url else found


def _from_events(tree: Tree, events: Sequence[tuple[str, Tree]]) -> StepMessages | None:
    """Messages that were logged one by one; the model's answer is logged as a choice."""
    given: list[JSON] = []
    gave: list[JSON] = []
    for name, message in _logged(tree, events):
        if name == "gen_ai.choice":
            answer = fields.mapping(message).get("message", message)
            gave.append(_with_role([shapes.unwrapped(answer)], Role.ASSISTANT))
        elif name == "gen_ai.content.completion":
            whole = shapes.unwrapped(get(message, "gen_ai.completion"))
            gave.append(_with_role(whole, Role.ASSISTANT))
        elif name == "gen_ai.content.prompt":
            whole = shapes.unwrapped(get(message, "gen_ai.prompt"))
            given.append(_with_role(whole, Role.USER))
        else:
            role = name.removeprefix("gen_ai.").removesuffix(".message")
            # A tool message has the id of its call in `id`.
            call = {"tool_call_id": message["id"]} if fields.text(message, "id") else {}
            given.append({"role": role, **call, **message})
    if not given and not gave:
        return None
    inputs = shapes.read_messages(given, Role.USER)
    return StepMessages(inputs, shapes.read_messages(gave, Role.ASSISTANT))


def _logged(
    tree: Tree, events: Sequence[tuple[str, Tree]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Logged messages with their event names, from an attribute or from the span's events."""
    held = shapes.unwrapped(get(tree, *LOGGED))
    for one in held if isinstance(held, list) else []:
        if isinstance(one, dict):
            yield fields.text(one, "event.name"), one
    for name, inner in events:
        if name.startswith("gen_ai."):
            body = shapes.unwrapped(get(inner, "event_body", "body"))
            # JSON in attributes is parsed, except for the content.
            yield (
                name,
                fields.mapping(body)
                or {
                    key: value if key == "content" else shapes.unwrapped(value)
                    for key, value in inner.items()
                },
            )


def _read(value: JSON, role: Role, of: str) -> list[Message]:
    """The messages in a value; plain text counts as a message only for a request."""
    reader = shapes.read_messages if of == GENERATION else shapes.read_structured
    return reader(value, role)


def _number(key: str) -> int:
    return int(key[:18])


def _count(value: JSON) -> int:
    """A count, which some exporters write as text; 0 if it isn't one."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:18])
    return fields.count({"n": value}, "n")


# Attributes


def attributes(value: JSON) -> Tree:
    """Attributes, from OTLP's list or an object, as a tree by their dotted names."""
    tree: Tree = {}
    if isinstance(value, list):
        pairs: Iterable[tuple[str, JSON]] = (
            (fields.text(one, "key"), plain(fields.mapping(one).get("value")))
            for one in value
        )
    else:
        pairs = fields.mapping(value).items()
    for name, inner in pairs:
        put(tree, name.split(".", STEPS), inner)
    return tree


def plain(value: JSON) -> JSON:
    """An OTLP value (`{"stringValue": …}`) as plain JSON."""
    for name, inner in fields.mapping(value).items():
        if name in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
            return inner
        if name == "intValue":
            return int(inner) if _WHOLE.fullmatch(str(inner)) else inner
        if name == "arrayValue":
            return [plain(one) for one in fields.items(inner, "values")]
        if name == "kvlistValue":
            return {
                fields.text(one, "key"): plain(fields.mapping(one).get("value"))
                for one in fields.items(inner, "values")
            }
    return None


def get(tree: Tree, *names: str) -> JSON:
    """The value of the first of these attributes that exists; None if none does."""
    for name in names:
        value: JSON = tree
        for step in name.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        if value is not None and value != "":
            return value
    return None


def word(tree: Tree, *names: str, limit: int = 128) -> str:
    """The first of these attributes that is a name as in `fields.word`, else an empty string."""
    for name in names:
        if found := fields.word({"value": get(tree, name)}, "value", limit=limit):
            return found
    return ""


def put(tree: Tree, path: list[str], value: JSON) -> None:
    """Set a value at a path; objects are merged, and of two other values the last counts."""
    for name in path[:-1]:
        inner = tree.get(name)
        if not isinstance(inner, dict):
            inner = tree[name] = {} if inner is None else {"": inner}
        tree = inner
    last = path[-1]
    if isinstance(value, dict) and isinstance(tree.get(last), dict | None):
        held = tree.setdefault(last, {})
        for name, inner in value.items():
            put(held, name.split(".", STEPS), inner)
    elif isinstance(tree.get(last), dict):
        tree[last][""] = value
    else:
        tree[last] = value
