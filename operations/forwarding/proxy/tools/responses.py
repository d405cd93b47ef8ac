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

    def is_said(self, message: JSONObject) -> bool:
        """Results may stand between the calls."""
        return message.get("role") in (None, "assistant")

    def pieces(self, message: JSONObject) -> list[JSONObject]:
        return [message]

    def call(self, piece: JSONObject) -> Call | None:
        is_call = piece.get("type") == "function_call"
        if not is_call or not isinstance(piece.get("name"), str):
            return None
        arguments = parsed(piece.get("arguments"))
        return Call(piece.get("call_id", ""), piece["name"], arguments)

    def with_pieces(
        self, message: JSONObject, pieces: list[JSONObject]
    ) -> list[JSONObject]:
        return pieces

    def own(self, made: JSONObject, client: JSONObject) -> JSONObject:
        """With an id only if the client's have some: by it the provider requires the reasoning."""
        if "id" in client:
            return made
        return {name: value for name, value in made.items() if name != "id"}

    def results(self, answers: Sequence[tuple[Call, CallAnswer]]) -> list[JSONObject]:
        return [
            {"type": "function_call_output", "call_id": call.id, "output": answer.text}
            for call, answer in answers
        ]


def is_output(item: JSONObject) -> bool:
    """Whether an item is the result of a function's call."""
    return item.get("type") == "function_call_output"
