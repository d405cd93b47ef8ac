"""OpenAI's Responses API."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from operations.forwarding.toolbox import CallAnswer, OfferedTool

from .form import Call, JSONObject, Stripper, ToolForm, parsed


class ResponsesStripper(Stripper):
    """Items have an index and events a number; both are renumbered."""

    def __init__(self, names: AbstractSet[str]) -> None:
        super().__init__(names)
        self._places: dict[int, int | None] = {}
        self._number = 0

    def take(self, value: JSONObject) -> JSONObject | None:
        """A response, or an event of one."""
        for whole in (value, value.get("response")):
            if isinstance(whole, dict) and isinstance(whole.get("output"), list):
                kept = (one for one in whole["output"] if not self._is_removed(one))
                whole["output"] = list(kept)
        if "output_index" in value:
            index = value["output_index"]
            if index not in self._places:
                is_gone = self._is_removed(value.get("item") or {})
                count = sum(place is not None for place in self._places.values())
                self._places[index] = None if is_gone else count
            if (place := self._places[index]) is None:
                return None
            value = value | {"output_index": place}
        if "sequence_number" in value:
            value = value | {"sequence_number": self._number}
            self._number += 1
        return value

    def _is_removed(self, item: JSONObject) -> bool:
        return item.get("type") == "function_call" and item.get("name") in self.names


class ResponsesTools(ToolForm):
    """Items with `function_call` and `function_call_output`."""

    stripper = ResponsesStripper

    def suits(self, value: JSONObject) -> bool:
        """Not for background replies, whose calls nobody here would answer."""
        return value.get("background") is not True

    def definitions(self, tools: Sequence[OfferedTool]) -> list[JSONObject]:
        # `strict` defaults to true here, which would make every field required.
        return [
            {"type": "function", **tool.function, "strict": False} for tool in tools
        ]

    def without_calls(self, value: JSONObject) -> tuple[str, bytes]:
        return "tool_choice", b'"none"'

    def calls(self, said: Sequence[JSONObject]) -> list[Call]:
        return [
            Call(item.get("call_id", ""), item["name"], parsed(item.get("arguments")))
            for item in said
            if item.get("type") == "function_call" and isinstance(item.get("name"), str)
        ]

    def only_calls(
        self, said: Sequence[JSONObject], names: AbstractSet[str]
    ) -> list[JSONObject]:
        # The ids are removed, because by them the provider would require the reasoning before
        # them.
        return [
            {name: value for name, value in item.items() if name != "id"}
            for item in said
            if item.get("type") == "function_call" and item.get("name") in names
        ]

    def results(self, answers: Sequence[tuple[Call, CallAnswer]]) -> list[JSONObject]:
        return [
            {"type": "function_call_output", "call_id": call.id, "output": answer.text}
            for call, answer in answers
        ]
