"""Replies of OpenAI's Responses API."""

from typing import Any

from threads.domain.formats.io.fields import items, mapping

from .stream import (
    Assembler,
    JSONObject,
    ReplyTokens,
    add_piece,
    in_order,
    join,
    parse,
    tokens_of,
)

_ENDS = ("response.completed", "response.incomplete", "response.failed")
_MAX_SKIPPED = 8
"""The most blocks that may be skipped: without a limit, one large index would fill memory."""
_AWAITED = ("queued", "in_progress")
_TEXTS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "text",
    "response.reasoning_summary_text.delta": "text",
}


class ResponsesAssembler(Assembler):
    """Assembles the items until the last event, which has the complete response."""

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[int, JSONObject] = {}

    def take(self, data: bytes) -> None:
        """Take an event about the response or about one of its items."""
        if not isinstance(event := parse(data), dict):
            return
        kind, place = event.get("type"), event.get("output_index", 0)
        if isinstance(response := event.get("response"), dict):
            self.response = response
        if kind in _ENDS:
            self.is_whole = True
            self.is_ended = kind != _ENDS[-1]
        elif kind in ("response.output_item.added", "response.output_item.done"):
            if isinstance(item := event.get("item"), dict):
                self._items[place] = item
        elif (member := _TEXTS.get(str(kind))) is not None:
            _add(self._items.setdefault(place, {}), str(kind), member, event)
        elif str(kind).endswith("_call_arguments.delta"):
            add_piece(
                self._items.setdefault(place, {}), "arguments", event.get("delta")
            )
        elif kind == "response.custom_tool_call_input.delta":
            add_piece(self._items.setdefault(place, {}), "input", event.get("delta"))

    def take_whole(self, response: JSONObject | list[Any]) -> None:
        """Take a response that was not streamed; a background response may not be complete yet."""
        super().take_whole(response)
        status = self.response.get("status")
        self.is_whole = status not in _AWAITED
        self.is_ended = self.is_ended and status not in ("failed", "cancelled")

    def whole(self) -> JSONObject | None:
        """The response with its items."""
        if not self.response.get("output"):
            self.response["output"] = in_order(self._items)
            for item in self._items.values():
                blocks = items(item, "content") + items(item, "summary")
                join(item, *map(mapping, blocks))
        return self.response

    def said(self) -> list[JSONObject]:
        """The items; if the provider doesn't store them (`store`), as they can be sent back."""
        output: list[JSONObject] = self.response["output"]
        if self.response.get("store") is not False:
            return output
        return [
            {name: value for name, value in item.items() if name != "id"}
            for item in output
            if item.get("type") != "reasoning" or item.get("encrypted_content")
        ]

    @property
    def fault(self) -> str:
        """A sentence if the reply was cancelled."""
        is_cancelled = self.response.get("status") == "cancelled"
        return "The reply was cancelled." if is_cancelled else ""

    @property
    def tokens(self) -> ReplyTokens:
        """As in `usage`."""
        return tokens_of(self.response.get("usage"), "input_tokens", "output_tokens")


def _add(item: JSONObject, kind: str, member: str, event: JSONObject) -> None:
    """Add a piece of text to its block of an item."""
    is_summary = "summary" in kind
    item.setdefault("type", "reasoning" if "reasoning" in kind else "message")
    if item["type"] == "message":
        item.setdefault("role", "assistant")
    name = "summary" if is_summary else "content"
    index = event.get("summary_index" if is_summary else "content_index", 0)
    blocks = item[name] = list(item.get(name) or ())
    if type(index) is not int or not 0 <= index <= len(blocks) + _MAX_SKIPPED:
        return
    while len(blocks) <= index:
        blocks.append({"type": "refusal" if member == "refusal" else "output_text"})
    add_piece(blocks[index], member, event.get("delta"))
