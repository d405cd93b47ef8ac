"""Replies of the Gemini API: a response, or a list of them when streamed."""

import json
from collections.abc import Iterable
from typing import Any

from threads.domain.formats.io.fields import items, mapping

from .gemini_calls import GrowingCall
from .stream import (
    Assembler,
    JSONObject,
    Pieces,
    ReplyTokens,
    add_piece,
    count,
    join,
    parse,
)


class GeminiAssembler(Assembler):
    """Assembles chunks. No event ends a stream: one with `finishReason` is the last, or nearly."""

    def __init__(self) -> None:
        super().__init__()
        self._chunks: list[JSONObject] = []
        self._others: list[JSONObject] = []

    def take(self, data: bytes) -> None:
        """Take a chunk, which is itself a response."""
        self._take(parse(data))

    def take_whole(self, response: JSONObject | list[Any]) -> None:
        """Take a reply that was not streamed as events."""
        for chunk in response if isinstance(response, list) else [response]:
            self._take(chunk)

    def take_list(self, text: str) -> None:
        """Take the JSON list that a stream without events is, as far as it arrived."""
        decoder, place = json.JSONDecoder(), text.find("{")
        while place >= 0:
            try:
                chunk, place = decoder.raw_decode(text, place)
            except ValueError:
                return
            self._take(chunk)
            place = text.find("{", place)

    def _take(self, chunk: Any) -> None:
        if not isinstance(chunk, dict):
            return
        self._chunks.append(chunk)
        self.response = chunk
        if _candidates(chunk).get(0, {}).get("finishReason"):
            self.is_ended = True

    def whole(self) -> JSONObject | None:
        """The chunks as one response, with the texts of the first candidate joined."""
        indexes = {index for chunk in self._chunks for index in _candidates(chunk)}
        if others := sorted(indexes - {0}):
            self._others = [one for at in others for one in _joined(self._chunks, at)]
        for chunk in _joined(self._chunks):
            self._chunks = [chunk]
        return self._chunks[0] if self._chunks else None

    def said(self) -> list[JSONObject]:
        """The model's content."""
        parts = joined_parts(part for chunk in self._chunks for part in _parts(chunk))
        return [{"role": "model", "parts": parts}]

    def others(self) -> list[JSONObject]:
        """The candidates other than the first."""
        return self._others

    @property
    def tokens(self) -> ReplyTokens:
        """As in the last `usageMetadata`; thoughts count as output."""
        found = (chunk.get("usageMetadata") for chunk in reversed(self._chunks))
        usage = next((one for one in found if isinstance(one, dict)), None)
        given = count(usage, "promptTokenCount")
        tools = count(usage, "toolUsePromptTokenCount")
        said = count(usage, "candidatesTokenCount")
        thought = count(usage, "thoughtsTokenCount")
        has_output = said is not None or thought is not None
        return ReplyTokens(
            input=None if given is None else given + (tools or 0),
            cached=count(usage, "cachedContentTokenCount"),
            output=(said or 0) + (thought or 0) if has_output else None,
        )

    @property
    def model(self) -> str:
        """The model that the last chunk names."""
        return str(self.response.get("modelVersion") or "")


def _joined(chunks: list[JSONObject], index: int = 0) -> list[JSONObject]:
    """The chunks as one response, if there are any; pieces of one text become one part."""
    parts = joined_parts(part for chunk in chunks for part in _parts(chunk, index))
    if not chunks:
        return []
    whole = {name: value for chunk in chunks for name, value in chunk.items()}
    content = {"role": "model", "parts": parts}
    return [{**whole, "candidates": [{"content": content}] if parts else []}]


def joined_parts(parts: Iterable[JSONObject]) -> list[JSONObject]:
    """The parts, with the pieces of one text, or of one call, joined into one part."""
    found: list[JSONObject] = []
    call: GrowingCall | None = None
    for part in parts:
        if call is not None and call.take(part):
            found[-1] = call.part
            continue
        call = GrowingCall(part) if GrowingCall.begins(part) else None
        if call is not None:
            found.append(call.part)
        elif found and _goes_on(found[-1], part):
            said = found[-1]["text"]
            found[-1] = {**found[-1], **part, "text": said}
            add_piece(found[-1], "text", part["text"])
        else:
            found.append(part)
    join(*found)
    return found


def _candidates(chunk: JSONObject) -> dict[int, JSONObject]:
    """A chunk's candidates by index, which may be missing if it is 0."""
    found: dict[int, JSONObject] = {}
    for place, one in enumerate(items(chunk, "candidates")):
        if isinstance(one, dict):
            index = one.get("index")
            found[index if type(index) is int else place] = one
    return found


def _parts(chunk: JSONObject, index: int = 0) -> list[JSONObject]:
    parts = items(mapping(_candidates(chunk).get(index), "content"), "parts")
    return [part for part in parts if isinstance(part, dict)]


def _goes_on(before: JSONObject, part: JSONObject) -> bool:
    """Whether a part continues the text of the one before it; a signature ends a text."""
    if not isinstance(before.get("text"), (str, Pieces)):
        return False
    if not isinstance(part.get("text"), str):
        return False
    kinds = [one.keys() - {"text", "thoughtSignature"} for one in (before, part)]
    is_same = kinds[0] == kinds[1] and before.get("thought") == part.get("thought")
    return is_same and "thoughtSignature" not in before
