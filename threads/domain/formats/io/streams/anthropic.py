"""Replies of Anthropic's Messages API."""

from threads.domain.formats.io.fields import mapping

from .stream import (
    Assembler,
    JSONObject,
    ReplyTokens,
    add_piece,
    count,
    in_order,
    join,
    parse,
    without_empty_members,
)

_TEXTS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
    "compaction_delta": "content",
}
_OF_THOUGHTS = ("thinking_delta", "signature_delta")


class AnthropicAssembler(Assembler):
    """Assembles blocks by index; a tool's input comes as pieces of JSON."""

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[int, JSONObject] = {}

    def take(self, data: bytes) -> None:
        """Take an event about the message or about one of its blocks."""
        if not isinstance(event := parse(data), dict):
            return
        match event.get("type"):
            case "message_start" if isinstance(event.get("message"), dict):
                self.response = event["message"]
                self.response["usage"] = dict(mapping(self.response, "usage"))
            case "content_block_start" if isinstance(event.get("content_block"), dict):
                self._blocks[event.get("index", 0)] = event["content_block"]
            case "content_block_delta" if isinstance(event.get("delta"), dict):
                self._take_delta(event.get("index", 0), event["delta"])
            case "message_delta":
                self.response.setdefault("usage", {}).update(mapping(event, "usage"))
                self.response.update(mapping(event, "delta"))
                self.is_ended = True
                # Usage comes with the stop reason, or in an event of its own after it.
                why, took = self.response.get("stop_reason"), event.get("usage")
                self.has_stopped = bool(why and took)
            case "message_stop":
                self.is_whole = self.is_ended = True

    def _take_delta(self, index: int, delta: JSONObject) -> None:
        kind = delta.get("type")
        # Bedrock begins text and thinking blocks with their first delta.
        begun = "thinking" if kind in _OF_THOUGHTS else "text"
        block = self._blocks.setdefault(index, {"type": begun, begun: ""})
        if kind == "citations_delta":
            block["citations"] = [
                *(block.get("citations") or ()),
                delta.get("citation"),
            ]
        elif (name := _TEXTS.get(str(kind))) is not None:
            add_piece(block, name, delta.get(name))
            if encrypted := delta.get("encrypted_content"):
                block["encrypted_content"] = encrypted

    def whole(self) -> JSONObject | None:
        """The message with its blocks."""
        if self._blocks:
            join(*self._blocks.values())
            self.response["content"] = list(map(_whole, in_order(self._blocks)))
            self.response.setdefault("role", "assistant")
        return self.response if self.response.get("content") else None

    def said(self) -> list[JSONObject]:
        """The message with its blocks."""
        blocks = [without_empty_members(block) for block in self.response["content"]]
        return [{"role": "assistant", "content": blocks}]

    @property
    def tokens(self) -> ReplyTokens:
        """As in `usage`, where cached tokens are not part of `input_tokens`."""
        usage = self.response.get("usage")
        fresh = count(usage, "input_tokens")
        cached = count(usage, "cache_read_input_tokens")
        written = count(usage, "cache_creation_input_tokens")
        return ReplyTokens(
            input=None if fresh is None else fresh + (cached or 0) + (written or 0),
            cached=cached,
            written=written,
            output=count(usage, "output_tokens"),
        )


def _whole(block: JSONObject) -> JSONObject:
    """A block as without streaming; the input of a call that broke off is kept as text."""
    if "partial_json" not in block:
        return block
    text = block["partial_json"]
    rest = {name: value for name, value in block.items() if name != "partial_json"}
    given = parse(text.encode()) if text else {}
    return rest | {"input": given if isinstance(given, dict) else {"partial": text}}
