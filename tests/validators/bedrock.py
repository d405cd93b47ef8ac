"""Requests of Bedrock's Converse, with Claude behind it.

Members, lengths and alphabets: the service model of `botocore` (`bedrock-runtime`, Converse),
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html. Beyond it:
"A conversation must start with a user message" https://github.com/langgenius/dify/issues/12340,
"must alternate" https://github.com/langchain-ai/langchain-aws/issues/130, duplicate ids
https://github.com/BerriAI/litellm/issues/20048, text behind calls
https://github.com/BerriAI/litellm/issues/24361, `toolConfig`
https://github.com/vxcontrol/pentagi/pull/196, blank text
https://github.com/aws-samples/bedrock-engineer/issues/8, ids of Claude
https://github.com/awsl-project/maxx/pull/557, a last message of the assistant
https://github.com/anomalyco/opencode/issues/29760.
"""

import re
from collections.abc import Iterator
from typing import Any

from .bedrock_blocks import NAME, blocks
from .checks import filled, matches, members, named, positive, validator

Form = dict[str, Any]

TOP = named(
    "modelId messages system inferenceConfig toolConfig guardrailConfig promptVariables"
    " additionalModelRequestFields additionalModelResponseFieldPaths requestMetadata"
    " performanceConfig serviceTier outputConfig"
)
MAY_PREFILL = re.compile(
    r".*claude-(?:v?2|instant|3|(?:opus|sonnet|haiku)-4(?!-(?:[6-9]|\d\d(?!\d)))).*"
)


@validator
def validate(request: dict[str, Any]) -> Iterator[str]:
    """What the provider would refuse in a request; nothing if it is accepted."""
    yield from members(request, TOP, "request", required=("messages",))
    config = request.get("inferenceConfig", {})
    known = ("maxTokens", "temperature", "topP", "stopSequences")
    yield from members(config, known, "inferenceConfig")
    if isinstance(config, dict) and "maxTokens" in config:
        yield from positive(config["maxTokens"], "inferenceConfig.maxTokens")
    yield from _system(request.get("system", []))
    yield from _tools(request)
    messages = request.get("messages")
    yield from filled(messages, "messages")
    if not isinstance(messages, list) or not messages:
        return
    wrong = [
        problem
        for place, message in enumerate(messages)
        for problem in _message(message, f"messages.{place}")
    ]
    yield from wrong or _conversation(request, messages)


def _system(system: Any) -> Iterator[str]:
    if not isinstance(system, list):
        yield "system: expected an array."
        return
    for k, part in enumerate(system):
        at = f"system.{k}"
        known = ("text", "guardContent", "cachePoint")
        yield from members(part, known, at)
        if isinstance(part, dict) and "text" in part:
            text = part["text"]
            if not isinstance(text, str) or not text.strip():
                yield f"{at}.text: the text field is blank, minimum length 1."


def _tools(request: Form) -> Iterator[str]:
    if "toolConfig" not in request:
        return
    config = request["toolConfig"]
    yield from members(config, ("tools", "toolChoice"), "toolConfig", ("tools",))
    tools = config.get("tools") if isinstance(config, dict) else None
    yield from filled(tools, "toolConfig.tools")
    names = []
    for k, tool in enumerate(tools if isinstance(tools, list) else ()):
        at = f"toolConfig.tools.{k}"
        yield from members(tool, ("toolSpec", "systemTool", "cachePoint"), at)
        spec = tool.get("toolSpec") if isinstance(tool, dict) else None
        if spec is None:
            continue
        known = ("name", "description", "inputSchema", "strict")
        needed = ("name", "inputSchema")
        yield from members(spec, known, f"{at}.toolSpec", needed)
        names.append(str(spec.get("name")))
        yield from matches(spec.get("name"), NAME, f"{at}.toolSpec.name", 64)
        if "description" in spec and not spec["description"]:
            yield f"{at}.toolSpec.description: invalid length, valid min length: 1."
        schema = spec.get("inputSchema")
        yield from members(schema, ("json",), f"{at}.toolSpec.inputSchema", ("json",))
        inner = schema.get("json") if isinstance(schema, dict) else None
        if not isinstance(inner, dict) or inner.get("type") != "object":
            yield f"{at}.toolSpec.inputSchema.json.type: must be one of: object."
    if len(set(names)) != len(names):
        yield "toolConfig.tools: tool names must be unique."


def _message(message: Any, at: str) -> Iterator[str]:
    yield from members(message, ("role", "content"), at, ("role", "content"))
    if not isinstance(message, dict):
        return
    if message.get("role") not in ("user", "assistant"):
        yield f"{at}.role: member must satisfy enum value set: [user, assistant]."
        return
    content = message.get("content")
    if isinstance(content, list) and not content:
        yield f"{at}: the content field in the Message object is empty."
    yield from blocks(content, message["role"], f"{at}.content")


def _conversation(request: Form, messages: list[Form]) -> Iterator[str]:
    if messages[0]["role"] != "user":
        yield "A conversation must start with a user message."
    for place in range(1, len(messages)):
        if messages[place - 1]["role"] == messages[place]["role"]:
            yield (
                f"messages.{place}: A conversation must alternate between user and"
                " assistant roles."
            )
    used = any(
        "toolUse" in part or "toolResult" in part
        for message in messages
        for part in message["content"]
    )
    if used and "toolConfig" not in request:
        yield (
            "The toolConfig field must be defined when using toolUse and toolResult"
            " content blocks."
        )
    yield from _rounds(messages)
    model = str(request.get("modelId", ""))
    if messages[-1]["role"] == "assistant" and not MAY_PREFILL.fullmatch(model):
        yield (
            "This model does not support assistant message prefill. The conversation must"
            " end with a user message."
        )


def _rounds(messages: list[Form]) -> Iterator[str]:
    asked: list[str] = []
    for place, message in enumerate([*messages, {"content": []}]):
        at, content = f"messages.{place}.content", message["content"]
        results = _ids(content, "toolResult")
        missing = [given for given in asked if given not in results]
        if missing:
            yield (
                f"Expected toolResult blocks at {at} for the following Ids:"
                f" {', '.join(missing)}."
            )
        if any(given not in asked for given in results):
            yield (
                f"The number of toolResult blocks at {at} exceeds the number of toolUse"
                " blocks of previous turn."
            )
        asked = _ids(content, "toolUse")
        for name, ids in (("toolResult", results), ("toolUse", asked)):
            if len(set(ids)) != len(ids):
                yield f"The {name} blocks at {at} contain duplicate Ids."
        first = [place for place, part in enumerate(content) if "toolUse" in part]
        if first and any("text" in part for part in content[first[0] :]):
            yield f"{at}: text blocks must come before toolUse blocks."


def _ids(content: list[Form], name: str) -> list[str]:
    return [part[name]["toolUseId"] for part in content if name in part]
