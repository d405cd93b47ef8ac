"""Anthropic's Messages API."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from operations.forwarding.toolbox import CallAnswer, OfferedTool

from .form import Call, JSONObject, Stripper, ToolForm


class AnthropicStripper(Stripper):
    """Blocks have an index; the remaining ones are renumbered."""

    def __init__(self, names: AbstractSet[str]) -> None:
        super().__init__(names)
        self._places: dict[int, int | None] = {}
        self._has_call = False

    def take(self, value: JSONObject) -> JSONObject | None:
        """A response, or an event of one."""
        kind = str(value.get("type"))
        if isinstance(value.get("content"), list):
            value["content"] = [
                one for one in value["content"] if not self._is_removed(one)
            ]
            self._end(value)
        elif kind == "content_block_start":
            is_gone = self._is_removed(value["content_block"])
            count = sum(place is not None for place in self._places.values())
            self._places[value["index"]] = None if is_gone else count
        elif kind == "message_delta":
            self._end(value.get("delta") or {})
        if not kind.startswith("content_block_"):
            return value
        place = self._places.get(value["index"])
        return None if place is None else value | {"index": place}

    def _is_removed(self, block: JSONObject) -> bool:
        is_call = block.get("type") == "tool_use"
        is_gone = is_call and block.get("name") in self.names
        self._has_call = self._has_call or (is_call and not is_gone)
        return is_gone

    def _end(self, ended: JSONObject) -> None:
        if ended.get("stop_reason") == "tool_use" and not self._has_call:
            ended["stop_reason"] = "end_turn"


class AnthropicTools(ToolForm):
    """Blocks of `tool_use` and `tool_result`."""

    stripper = AnthropicStripper

    def definitions(self, tools: Sequence[OfferedTool]) -> list[JSONObject]:
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool.parameters,
            }
            for tool in tools
        ]

    def without_calls(self, value: JSONObject) -> tuple[str, bytes]:
        return "tool_choice", b'{"type":"none"}'

    def is_said(self, message: JSONObject) -> bool:
        return message.get("role") == "assistant"

    def pieces(self, message: JSONObject) -> list[JSONObject]:
        return _blocks(message)

    def call(self, piece: JSONObject) -> Call | None:
        is_call = piece.get("type") == "tool_use" and isinstance(piece.get("name"), str)
        if not is_call:
            return None
        return Call(piece.get("id", ""), piece["name"], piece.get("input"))

    def with_pieces(
        self, message: JSONObject, pieces: list[JSONObject]
    ) -> list[JSONObject]:
        return [message | {"content": pieces}] if pieces else [message]

    def results(self, answers: Sequence[tuple[Call, CallAnswer]]) -> list[JSONObject]:
        blocks = [
            {"type": "tool_result", "tool_use_id": call.id, "content": answer.text}
            | ({"is_error": True} if answer.is_error else {})
            for call, answer in answers
        ]
        return [{"role": "user", "content": blocks}]

    def with_results(
        self,
        results: Sequence[JSONObject],
        following: JSONObject,
        hidden: Sequence[bool],
    ) -> JSONObject | None:
        own = _blocks(following)
        if not any(block.get("type") == "tool_result" for block in own):
            return None
        ours = [block for message in results for block in message["content"]]
        return following | {"content": [*ours, *own]}


def _blocks(message: JSONObject) -> list[JSONObject]:
    content = message.get("content")
    given = content if isinstance(content, list) else []
    return [block for block in given if isinstance(block, dict)]
