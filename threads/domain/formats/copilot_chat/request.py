"""One request of a VS Code chat: the question, and everything that came of it.

What was sent to the model is in the result's `metadata`: the user's message as rendered, and the
model's rounds, each with a text and calls, whose results are beside them. If there are no rounds
(other participants, older versions), the parts of the `response` that the page shows are read.

Sources: microsoft/vscode, src/vs/workbench/contrib/chat/common/chatModel.ts;
microsoft/vscode-copilot-chat, src/extension/prompt/common/conversation.ts;
microsoft/vscode-prompt-tsx, src/base/jsonTypes.ts.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from threads.domain.formats.arguments import read_call
from threads.domain.formats.io import base64_text, fields, json_text
from threads.domain.formats.kit.calls import OpenCalls
from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    JSON,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

TEXT_PIECE = 1
"""The type of text pieces in a rendered message."""
NODE_TEXT = 2
"""The type of text nodes in a rendered prompt; other nodes hold nodes."""


def read_request(request: dict[str, Any]) -> Iterator[Message]:
    """The messages of a request, without records; the last has the tokens of the answer."""
    metadata = fields.mapping(fields.mapping(request, "result"), "metadata")
    asked = fields.moment(request.get("timestamp"))
    id_ = fields.word(request, "requestId") or None
    for number, parts in enumerate(_question_messages(request, metadata)):
        yield Message(
            role=Role.USER,
            parts=parts,
            source_id=None if number else id_,
            created_at=asked,
        )
    rounds = fields.items(metadata, "toolCallRounds")
    answers = list(_rounds(rounds, metadata) if rounds else ())
    shown = list(_displayed_answer(request))
    if not answers:
        answers = shown
    elif answers[-1].role is Role.TOOL:
        answers += _broken_off(shown, answers)
    yield from _with_usage(answers, request, metadata)


def typed(request: JSON) -> str:
    """What a person typed."""
    message = fields.mapping(request).get("message")
    if isinstance(message, str):
        return message
    found = fields.text(message, "text")
    pieces = (fields.text(one, "text") for one in fields.items(message, "parts"))
    return found or "".join(pieces)


# The question


def _question_messages(
    request: dict[str, Any], metadata: dict[str, Any]
) -> Iterator[tuple[Part, ...]]:
    """The context sent before the question, and the question: as rendered, else as typed."""
    if before := _rendered(metadata, "renderedGlobalContext"):
        yield before
    parts = _rendered(metadata, "renderedUserMessage")
    words = typed(request)
    parts = parts or ((Text(words),) if words else ())
    sent = "\n".join(part.text for part in parts if isinstance(part, Text))
    attached = fields.items(fields.mapping(request, "variableData"), "variables")
    files = tuple(file for one in attached for file in _attached(one, sent))
    if parts or files:
        yield (*parts, *files)


def _rendered(metadata: dict[str, Any], name: str) -> tuple[Part, ...]:
    made: list[Part] = []
    for piece in fields.items(metadata, name):
        words = fields.text(piece, "text")
        if fields.mapping(piece).get("type") == TEXT_PIECE and words:
            made.append(Text(words))
        elif url := fields.text(fields.mapping(piece, "imageUrl"), "url"):
            made.append(_image(url))
    return tuple(made)


def _attached(variable: JSON, sent: str) -> Iterator[File]:
    """Text attached to a question but not contained in it, as a file; nothing without text."""
    words = fields.text(variable, "value")
    if words and words not in sent:
        data = words.encode("utf-8", "surrogatepass")
        yield File("text/plain", fields.text(variable, "name") or None, data=data)


def _image(url: str) -> Image:
    if found := base64_text.split_data_uri(url):
        return Image(found[0], data=found[1])
    return Image("image/*", url=url)


# The rounds


def _rounds(rounds: list[Any], metadata: dict[str, Any]) -> Iterator[Message]:
    """For each round, one message by the model and one for the results of its calls."""
    results = fields.mapping(metadata, "toolCallResults")
    for one in rounds:
        said: list[Part] = [*_thinking(fields.mapping(one).get("thinking"))]
        if words := fields.text(one, "response"):
            said.append(Text(words))
        answers: list[Part] = []
        for call in fields.items(one, "toolCalls"):
            id_, name = fields.text(call, "id"), fields.text(call, "name")
            given = fields.mapping(call).get("arguments", {})
            said.append(read_call(id_, name, given))
            if isinstance(results.get(id_), dict):
                answers.append(ToolResult(id_, read_result(results[id_]), name))
        if said:
            yield Message(role=Role.ASSISTANT, parts=tuple(said))
        if answers:
            yield Message(role=Role.TOOL, parts=tuple(answers))


def _thinking(thinking: JSON) -> Iterator[Thinking]:
    """A model's reasoning: a text or a list of texts, and data that only its provider can read."""
    words = thinking if isinstance(thinking, str) else fields.text(thinking, "text")
    listed = fields.items(thinking, "text")
    words = words or "\n\n".join(text for text in listed if isinstance(text, str))
    sealed = fields.text(thinking, "encrypted") or None
    if words or sealed:
        yield Thinking(words, data=sealed)


def read_result(result: JSON) -> tuple[Text | Image | File | Opaque, ...]:
    """The content of a tool's result: texts, rendered prompts, images and files."""
    made: list[Text | Image | File | Opaque] = []
    for piece in fields.items(result, "content"):
        given = fields.mapping(piece)
        value = given.get("value", piece)
        data = base64_text.decode(fields.mapping(given, "data").get("$base64"))
        if isinstance(value, str):
            made += [Text(value)] if value else []
        elif "node" in fields.mapping(value):
            words = "".join(_words(fields.mapping(value, "node"))).removeprefix("\n")
            made += [Text(words)] if words else []
        elif data is not None:
            media_type = fields.text(given, "mimeType") or "application/octet-stream"
            kind = Image if media_type.startswith("image/") else File
            made.append(kind(media_type, data=data))
        else:
            made.append(Opaque("content", piece))
    return tuple(made)


def _words(node: dict[str, Any]) -> Iterator[str]:
    """The texts of a rendered prompt, in order."""
    if node.get("type") == NODE_TEXT:
        words = fields.text(node, "text")
        yield "\n" + words if node.get("lineBreakBefore") else words
    for child in fields.items(node, "children"):
        yield from _words(fields.mapping(child))


def _broken_off(shown: list[Message], answers: list[Message]) -> list[Message]:
    """The shown end of an answer that broke off before it became a round.

    A call there has another id than in a round, so calls are counted instead.
    """
    last = shown[-2:] if shown and shown[-1].role is Role.TOOL else shown[-1:]
    is_new = not _calls(last) or _calls(shown) > _calls(answers)
    return last if is_new else []


def _calls(messages: list[Message]) -> int:
    parts = (part for message in messages for part in message.parts)
    return sum(isinstance(part, ToolCall) for part in parts)


# The page's own parts


def _displayed_answer(request: dict[str, Any]) -> Iterator[Message]:
    """The answer that the page shows: text, reasoning and calls, as far as it has them."""
    said: list[Part] = []
    words: list[str] = []
    calls = OpenCalls()

    def spoken() -> None:
        text = "".join(words).strip()
        words.clear()
        if text:
            said.append(Text(text))

    response = request.get("response")
    for part in response if isinstance(response, list) else [response]:
        kind = fields.text(part, "kind")
        if kind in ("", "markdownContent", "inlineReference"):
            words.append(_markdown(part))
            continue
        if kind == "thinking":
            spoken()
            said += _thinking(fields.mapping(part).get("value"))
        elif kind == "toolInvocationSerialized":
            spoken()
            given = fields.mapping(part)
            name = fields.text(given, "toolId")
            id_ = calls.begin(fields.text(given, "toolCallId"), name)
            call, content = _invocation(given, id_, name)
            yield Message(role=Role.ASSISTANT, parts=(*said, call))
            said.clear()
            if content:
                result = ToolResult(id_, content, name)
                yield Message(role=Role.TOOL, parts=(result,))
        elif kind in ("textEditGroup", "confirmation", "elicitation", "command"):
            spoken()
            said.append(Opaque(kind, part))
    spoken()
    if said:
        yield Message(role=Role.ASSISTANT, parts=tuple(said))


def _markdown(part: JSON) -> str:
    """The text of a part, or the displayed name of a reference."""
    if isinstance(part, str):
        return part
    given = fields.mapping(part)
    if "inlineReference" in given:
        where = fields.mapping(given, "inlineReference")
        place = fields.mapping(where, "location") or where
        path = fields.text(fields.mapping(place, "uri") or place, "path")
        name = fields.text(given, "name") or fields.text(where, "name")
        return f"`{name or path.rpartition('/')[2]}`"
    value = given.get("value", given.get("content"))
    return value if isinstance(value, str) else fields.text(value, "value")


def _invocation(
    given: dict[str, Any], id_: str, name: str
) -> tuple[ToolCall, tuple[Text, ...]]:
    """A call and its result as the page keeps them; without a result, the displayed message."""
    details = fields.mapping(given, "resultDetails")
    own = fields.mapping(given, "toolSpecificData")
    arguments: JSON = own or {}
    if words := fields.text(details, "input"):
        arguments = words
    shown = (_markdown(given.get(n)) for n in ("pastTenseMessage", "invocationMessage"))
    told = details.get("output")
    if told is None:
        answer = fields.first(shown)
    else:
        answer = told if isinstance(told, str) else json_text.dump(told).decode()
    return read_call(id_, name, arguments), (Text(answer),) if answer else ()


def _with_usage(
    answers: list[Message], request: dict[str, Any], metadata: dict[str, Any]
) -> Iterator[Message]:
    """The answers, the last with the tokens of all; without answers, the error."""
    result = fields.mapping(request, "result")
    error = fields.mapping(result, "errorDetails")
    if error and not answers:
        answers = [Message(role=Role.ASSISTANT, parts=(Opaque("error", error),))]
    used = fields.mapping(result, "usage") or metadata
    usage = Usage(
        input_tokens=fields.count(used, "promptTokens"),
        output_tokens=fields.count(used, "completionTokens", "outputTokens"),
    )
    last = len(answers) - 1
    for number, message in enumerate(answers):
        is_answer = message.role is Role.ASSISTANT
        yield replace(
            message,
            model=(fields.word(request, "modelId") or None) if is_answer else None,
            source_id=(fields.word(request, "responseId") or None)
            if number == 0
            else None,
            usage=usage if number == last and usage != Usage() else None,
            partial=number == last
            and (bool(error) or request.get("isCanceled") is True),
        )
