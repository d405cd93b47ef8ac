"""Translates requests and responses from other forms into the similar forms that are read.

Text completions and Ollama's become Chat Completions, Bedrock's Converse becomes Anthropic's.

Sources: platform.openai.com/docs/api-reference/completions; github.com/ollama/ollama,
`docs/api.md`; docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from urllib.parse import unquote

from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.streams import events_of
from threads.domain.formats.kit import normalize
from threads.domain.formats.kit.calls import UNKNOWN, OpenCalls
from threads.domain.part import JSON

Body = dict[str, Any]


class Translated(NamedTuple):
    """A call in a form that is read."""

    form: str
    body: Body
    response: JSON


def translate_call(path: str, body: Body, response: str) -> Translated | None:
    """The call in a form that is read; None if it is in none of these forms."""
    read = next((read for end, read in _ENDS.items() if path.endswith(end)), None)
    return read(path, body, response) if read else None


# Text completions


def _completion(_path: str, body: Body, response: str) -> Translated | None:
    """A text completion: prompts are user messages; the texts of each choice are joined."""
    prompts = body.get("prompt")
    said = [prompts] if isinstance(prompts, str) else prompts
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        return None
    asked = [{"role": "user", "content": one} for one in said if one]
    chunks = _values(response)
    texts: dict[int, str] = {}
    for chunk in chunks:
        for choice in map(fields.mapping, fields.items(chunk, "choices")):
            place = fields.count(choice, "index")
            texts[place] = texts.get(place, "") + fields.text(choice, "text")
    choices = [_reply({"content": text}) for _, text in sorted(texts.items())]
    whole = {name: value for chunk in chunks for name, value in chunk.items() if value}
    given = {**body, "messages": asked}
    return Translated("openai", given, {**whole, "choices": choices}) if asked else None


# Ollama


def _ollama_chat(_path: str, body: Body, response: str) -> Translated | None:
    messages, chunks = fields.items(body, "messages"), _values(response)
    if not messages or not all("done" in chunk for chunk in chunks):
        return None
    said = [fields.mapping(chunk, "message") for chunk in chunks]
    calls = OpenCalls()
    asked = [_of_ollama(one, calls) for one in messages if isinstance(one, dict)]
    return _of_chunks(body, asked, _of_ollama(_joined(said), calls), chunks)


def _ollama_generate(_path: str, body: Body, response: str) -> Translated | None:
    chunks, asked = _values(response), list[Body]()
    for role, name in (("system", "system"), ("user", "prompt")):
        if words := fields.text(body, name):
            given = body if role == "user" else {}
            asked.append(_of_ollama({**given, "role": role, "content": words}))
    if not asked or not all("response" in chunk for chunk in chunks):
        return None
    said = [{**chunk, "content": chunk["response"]} for chunk in chunks]
    return _of_chunks(body, asked, _of_ollama(_joined(said)), chunks)


def _of_chunks(
    body: Body, asked: list[Body], reply: Body, chunks: list[Body]
) -> Translated:
    last: Body = chunks[-1] if chunks else {}
    usage = {
        "prompt_tokens": fields.count(last, "prompt_eval_count"),
        "completion_tokens": fields.count(last, "eval_count"),
    }
    response = {
        "model": fields.text(last, "model"),
        "usage": usage if "eval_count" in last else None,
        "choices": [_reply(reply)] if chunks else [],
    }
    given = {name: value for name, value in body.items() if name != "system"}
    return Translated("openai", {**given, "messages": asked}, response)


def _joined(said: Iterable[Body]) -> Body:
    """The pieces of a reply as one message."""
    found: Body = {"role": "assistant", "content": ""}
    for piece in said:
        for name in ("content", "thinking"):
            found[name] = found.get(name, "") + fields.text(piece, name)
        found.setdefault("tool_calls", []).extend(fields.items(piece, "tool_calls"))
    return found


_OF_OLLAMA = ("content", "reasoning_content")


def _of_ollama(message: Body, calls: OpenCalls | None = None) -> Body:
    """An Ollama message, whose calls have no ids, in the form of Chat Completions."""
    calls = calls or OpenCalls()
    words, role = fields.text(message, "content"), fields.text(message, "role")
    whole = normalize.with_ollama({**message, "content": words})
    found = {name: whole[name] for name in _OF_OLLAMA if name in whole}
    found["role"] = role
    if called := fields.items(message, "tool_calls"):
        found["tool_calls"] = [_call(fields.mapping(one), calls) for one in called]
    if role == "tool":
        name = fields.text(message, "tool_name", "name") or None
        given = fields.text(message, "tool_call_id")
        answered = calls.answer(given, name) or calls.answer("", None)
        found |= {"name": name, "tool_call_id": answered or UNKNOWN}
    return found


def _call(call: Body, calls: OpenCalls) -> Body:
    name = fields.text(fields.mapping(call, "function"), "name")
    return {**call, "id": calls.begin(fields.text(call, "id"), name)}


# Bedrock's Converse


def _converse(path: str, body: Body, response: str) -> Translated | None:
    messages = [one for one in fields.items(body, "messages") if isinstance(one, dict)]
    if not messages:
        return None
    model = unquote(path.removesuffix("/converse").rpartition("/")[2])
    system = normalize.normalized_content(body.get("system"))
    asked = [normalize.normalized(one) for one in messages]
    answer = next(iter(_values(response)), {})
    usage = fields.mapping(answer, "usage")
    counted = {
        "input_tokens": fields.count(usage, "inputTokens"),
        "output_tokens": fields.count(usage, "outputTokens"),
        "cache_read_input_tokens": fields.count(usage, "cacheReadInputTokens"),
        "cache_creation_input_tokens": fields.count(usage, "cacheWriteInputTokens"),
    }
    reply = normalize.reply_in(answer) or {}
    given = {**body, "model": model, "messages": asked, "system": system}
    told = {**reply, "model": model, "usage": counted if usage else None}
    return Translated("anthropic", given, told)


def _reply(message: Body) -> Body:
    return {"message": {**message, "role": "assistant"}}


def _values(response: str) -> list[Body]:
    """The objects of a response: the whole, one per line, or the data of its events."""
    whole = json_file.parsed(response.encode("utf-8", "surrogatepass"))
    if isinstance(whole, dict):
        return [whole]
    pieces = [*events_of(response)]
    pieces = pieces or response.encode("utf-8", "surrogatepass").splitlines()
    return [one for one in map(json_file.parsed, pieces) if isinstance(one, dict)]


_ENDS: dict[str, Callable[[str, Body, str], Translated | None]] = {
    "/completions": _completion,
    "/api/chat": _ollama_chat,
    "/api/generate": _ollama_generate,
    "/converse": _converse,
}
"""Map of the end of a path to the translator."""
