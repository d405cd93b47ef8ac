"""Threads of Amp (`~/.local/share/amp/threads/T-….json`): one object with `messages`.

Blocks are Anthropic's except for results: a `tool_result` names its call in `toolUseID` and holds
the tool's run, with its status and a result in the tool's own form. Files that a user mentioned
(`@file`) are beside the content in `fileMentions`. A summary is a message with the role `info`.

Amp's source is not public. Sources: the readers in jonathan-kellerai/cross_agent_session_resumer
(src/providers/amp.rs) and wesm/agentsview (internal/parser/amp.go).
"""

from collections.abc import Iterator
from typing import Any

from threads.domain.formats import blocks
from threads.domain.formats.io import fields, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.list_format import ListFormat, Values, per_element
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import File, Opaque, Part, Text, Thinking, ToolResult

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "info": Role.USER}
RAN = ("done", "in-progress", "queued")
"""Statuses of a tool's run that are not failures."""


def _message(row: Element) -> Iterator[Message]:
    """A message of the thread. Raises Invalid if it isn't one."""
    given = fields.require(row.value, dict, "a message", ())
    content = given.get("content")
    at = ("content",)
    parts: list[Part] = []
    if isinstance(content, list):
        for index, block in enumerate(content):
            parts += _block(block, (*at, index))
    else:
        parts += blocks.read_content(content, at)
    usage = fields.mapping(given, "usage")
    state = fields.mapping(given, "state")
    yield Message(
        role=blocks.read_role(given, ROLES, ()),
        parts=(*parts, *_mentioned(given)),
        model=fields.word(usage, "model") or None,
        created_at=fields.moment(
            fields.mapping(given, "meta").get("sentAt") or usage.get("timestamp")
        ),
        usage=_usage(usage),
        partial=fields.text(state, "type") in ("cancelled", "streaming", "running"),
        records=(row.record,),
    )


def _block(block: Any, at: tuple[str | int, ...]) -> tuple[Part, ...]:
    """The part of a block, in Amp's own form or Anthropic's."""
    given = fields.mapping(block)
    match given.get("type"):
        case "tool_result" if "run" in given:
            return (_result(given),)
        case "summary":
            said = fields.mapping(given, "summary")
            words = fields.text(said, "summary") or fields.text(given, "summary")
            return (Text(words),) if words else (Opaque("summary", given),)
        case "thinking" if "openAIReasoning" in given:
            sealed = fields.text(given["openAIReasoning"], "encryptedContent")
            return (Thinking(fields.text(given, "thinking"), data=sealed or None),)
    return blocks.read_block(block, at)


def _result(block: dict[str, Any]) -> ToolResult:
    """The outcome of a tool's run: its result, else the reason why there is none."""
    run = fields.mapping(block, "run")
    answer = run.get("result", run.get("error", run.get("reason", run.get("progress"))))
    if isinstance(answer, dict) and answer.keys() == {"message"}:  # an error
        answer = answer["message"]
    if answer is not None and not isinstance(answer, str):
        answer = json_text.dump(answer).decode()
    content = (Text(answer),) if answer else ()
    failed = fields.text(run, "status") not in RAN
    return ToolResult(fields.text(block, "toolUseID"), content, None, failed)


def _mentioned(message: dict[str, Any]) -> Iterator[Part]:
    """The files that a user mentioned, with the content that was sent."""
    for file in fields.items(fields.mapping(message, "fileMentions"), "files"):
        words = fields.text(file, "content")
        if words and not fields.mapping(file).get("isImage"):
            data = words.encode("utf-8", "surrogatepass")
            yield File("text/plain", fields.text(file, "uri") or None, data=data)
        elif file:
            yield Opaque("file_mention", file)


def _usage(usage: dict[str, Any]) -> Usage | None:
    """The tokens of an answer; cache tokens count as input too."""
    cached = fields.count(usage, "cacheReadInputTokens")
    written = fields.count(usage, "cacheCreationInputTokens")
    found = Usage(
        input_tokens=fields.count(usage, "inputTokens") + cached + written,
        output_tokens=fields.count(usage, "outputTokens"),
        cached_tokens=cached,
    )
    return found if found != Usage() else None


def _known(said: Values, _file_name: str) -> dict[str, Any]:
    return {
        "title": fields.text({"title": said["title"]}, "title"),
        "external_id": fields.as_word(said["id"], 200) or None,
        "strategy": "anthropic",
    }


def _score(sample: Sample) -> float:
    """By a thread id that begins with T-, beside members that only Amp's threads have."""
    said = sample.object
    has_id = fields.text(said, "id").startswith("T-")
    is_thread = {"v", "env", "agentMode", "created"} & said.keys()
    if has_id and is_thread:
        return 0.95
    runs = (
        fields.mapping(block).get("toolUseID")
        for message in fields.items(said, "messages")
        for block in fields.items(message, "content")
    )
    return 0.9 if any(runs) else 0


FORMAT = ListFormat(
    name="amp",
    label="an Amp thread",
    score=_score,
    lists={"messages": per_element(_message)},
    known=_known,
).format
