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

    def calls(self, said: Sequence[JSONObject]) -> list[Call]:
        return [
            Call(block.get("id", ""), block["name"], block.get("input"))
            for message in said
            for block in message["content"]
            if block.get("type") == "tool_use" and isinstance(block.get("name"), str)
        ]

    def only_calls(
        self, said: Sequence[JSONObject], names: AbstractSet[str]
    ) -> list[JSONObject]:
        blocks = [
            block
            for message in said
            for block in message["content"]
            if block.get("type") == "tool_use" and block.get("name") in names
        ]
        return [{"role": "assistant", "content": blocks}]

    def results(self, answers: Sequence[tuple[Call, CallAnswer]]) -> list[JSONObject]:
        blocks = [
            {"type": "tool_result", "tool_use_id": call.id, "content": answer.text}
            | ({"is_error": True} if answer.is_error else {})
            for call, answer in answers
        ]
        return [{"role": "user", "content": blocks}]
