"""Replies of OpenAI's Chat Completions API, and of the many providers that speak it."""

from dataclasses import replace
from typing import Any

from threads.domain.formats.io.fields import items

from .stream import (
    Assembler,
    JSONObject,
    ReplyTokens,
    add_piece,
    count,
    in_order,
    join,
    parse,
    tokens_of,
    without_empty_members,
)

_TEXTS = ("refusal", "reasoning_content", "reasoning")
_IN_PIECES = ("function_call", "audio", "function", "custom")
"""Members that are objects with texts that come in pieces."""


class _Choice:
    """One of the choices that a stream delivers side by side."""

    def __init__(self) -> None:
        self._said: JSONObject = {"role": "assistant", "content": None}
        self._calls: dict[int, JSONObject] = {}

    def take(self, delta: JSONObject) -> None:
        """Take one more delta."""
        _add_content(self._said, delta.get("content"))
        for name in _TEXTS:
            add_piece(self._said, name, delta.get(name))
        for place, call in enumerate(delta.get("tool_calls") or ()):
            if isinstance(call, dict):
                self._take_call(call.get("index", place), call)
        if isinstance(function := delta.get("function_call"), dict):
            _add_function(self._said.setdefault("function_call", {}), function)
        if isinstance(audio := delta.get("audio"), dict):
            _add_audio(self._said.setdefault("audio", {}), audio)
        if isinstance(blocks := delta.get("thinking_blocks"), list):
            self._said.setdefault("thinking_blocks", []).extend(blocks)

    def _take_call(self, index: Any, call: JSONObject) -> None:
        known = self._calls.setdefault(index, {"type": "function"})
        for name in ("id", "type"):
            if call.get(name):
                known[name] = call[name]
        for kind in ("function", "custom"):
            if isinstance(piece := call.get(kind), dict):
                _add_function(known.setdefault(kind, {}), piece)

    def message(self) -> JSONObject | None:
        """The message; None if it says nothing."""
        join(self._said)
        for holder in (self._said, *self._calls.values()):
            join(*(holder[kind] for kind in _IN_PIECES if kind in holder))
        calls = [call for call in in_order(self._calls) if _is_named(call)]
        said = self._said | ({"tool_calls": calls} if calls else {})
        return None if len(said) == 2 and said["content"] is None else said


class ChatAssembler(Assembler):
    """Assembles the choices; the first one is the reply."""

    def __init__(self) -> None:
        super().__init__()
        self._choices: dict[int, _Choice] = {}

    def take(self, data: bytes) -> None:
        """Take a chunk, or `[DONE]`."""
        if data.strip() == b"[DONE]":
            self.is_whole = True
            return
        if not isinstance(chunk := parse(data), dict):
            return
        for name in ("id", "model", "created"):
            if chunk.get(name):
                self.response[name] = chunk[name]
        if isinstance(chunk.get("usage"), dict):
            self.response["usage"] = chunk["usage"]
        for choice in chunk.get("choices") or ():
            if isinstance(choice, dict):
                self._take_choice(choice)

    def _take_choice(self, choice: JSONObject) -> None:
        index = choice.get("index", 0)
        if type(index) is int and isinstance(delta := choice.get("delta"), dict):
            self._choices.setdefault(index, _Choice()).take(delta)
        if index == 0 and choice.get("finish_reason"):
            self.is_ended = True

    def whole(self) -> JSONObject | None:
        """The response with its choices; None if the first says nothing."""
        if "choices" not in self.response:
            said = [self._choices[place].message() for place in sorted(self._choices)]
            if 0 not in self._choices or said[0] is None:
                return None
            self.response["choices"] = [{"message": one} for one in said if one]
        return self.response

    def said(self) -> list[JSONObject]:
        """The first choice's message."""
        message = self.response["choices"][0]["message"]
        return [{"content": None, **without_empty_members(message)}]

    def others(self) -> list[JSONObject]:
        """The choices after the first."""
        choices = items(self.response, "choices")[1:]
        return [{**self.response, "choices": [choice]} for choice in choices]

    @property
    def tokens(self) -> ReplyTokens:
        """As in `usage`; DeepSeek's name for cached tokens is understood too."""
        usage = self.response.get("usage")
        found = tokens_of(usage, "prompt_tokens", "completion_tokens")
        if found.cached is None:
            return replace(found, cached=count(usage, "prompt_cache_hit_tokens"))
        return found


def _add_content(said: JSONObject, piece: Any) -> None:
    """Add text or blocks: Mistral's reasoning models send thinking and text as lists of blocks."""
    if not isinstance(piece, list) and not isinstance(said["content"], list):
        add_piece(said, "content", piece)
        return
    join(said)
    held = said["content"]
    blocks = held if isinstance(held, list) else _block_of(held)
    for block in piece if isinstance(piece, list) else _block_of(piece):
        _add_block(blocks, block)
    said["content"] = blocks


def _block_of(words: Any) -> list[Any]:
    return [{"type": "text", "text": words}] if words and isinstance(words, str) else []


def _add_block(blocks: list[Any], block: Any) -> None:
    """Add a block, or extend the last one."""
    last = blocks[-1] if blocks and isinstance(blocks[-1], dict) else {}
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in ("text", "thinking") or last.get("type") != kind:
        blocks.append(block)
        return
    before, more = last.get(kind), block.get(kind)
    if isinstance(before, str) and isinstance(more, str):
        blocks[-1] = last | {kind: before + more}
    elif isinstance(before, list) and isinstance(more, list):
        blocks[-1] = last | {kind: [*before, *more]}
    else:
        blocks.append(block)


def _add_function(known: JSONObject, piece: JSONObject) -> None:
    for name in ("name", "arguments", "input"):
        add_piece(known, name, piece.get(name))


def _add_audio(known: JSONObject, piece: JSONObject) -> None:
    for name in ("data", "transcript"):
        add_piece(known, name, piece.get(name))
    known.update({name: piece[name] for name in ("id", "expires_at") if name in piece})


def _is_named(call: JSONObject) -> bool:
    return any(call.get(kind, {}).get("name") for kind in ("function", "custom"))
