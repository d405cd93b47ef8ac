"""OpenAI's Chat Completions API, and the many compatible ones."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from operations.forwarding.toolbox import CallAnswer, OfferedTool

from .form import Call, JSONObject, Stripper, ToolForm, parsed


class ChatStripper(Stripper):
    """Calls have an index; the remaining ones are renumbered."""

    def __init__(self, names: AbstractSet[str]) -> None:
        super().__init__(names)
        self._places: dict[int, int | None] = {}

    def take(self, value: JSONObject) -> JSONObject | None:
        """A response, or a chunk of one."""
        for choice in value.get("choices") or ():
            for said in (choice.get("message"), choice.get("delta")):
                if isinstance(said, dict) and said.get("tool_calls"):
                    self._strip(said)
            left = any(place is not None for place in self._places.values())
            if choice.get("finish_reason") == "tool_calls" and not left:
                choice["finish_reason"] = "stop"
        return value

    def _strip(self, said: JSONObject) -> None:
        kept = []
        for at, call in enumerate(said.pop("tool_calls")):
            index = call.get("index", at)
            if index not in self._places:
                is_gone = (call.get("function") or {}).get("name") in self.names
                count = sum(place is not None for place in self._places.values())
                self._places[index] = None if is_gone else count
            if (place := self._places[index]) is not None:
                kept.append(call | ({"index": place} if "index" in call else {}))
        if kept:
            said["tool_calls"] = kept


class ChatTools(ToolForm):
    """Tools as functions."""

    stripper = ChatStripper

    def suits(self, value: JSONObject) -> bool:
        """Not with several choices, which might call different things, nor beside `functions`."""
        return value.get("n") in (None, 1) and not value.get("functions")

    def definitions(self, tools: Sequence[OfferedTool]) -> list[JSONObject]:
        return [{"type": "function", "function": tool.function} for tool in tools]

    def without_calls(self, value: JSONObject) -> tuple[str, bytes]:
        return "tool_choice", b'"none"'

    def is_said(self, message: JSONObject) -> bool:
        return message.get("role") == "assistant"

    def pieces(self, message: JSONObject) -> list[JSONObject]:
        calls: list[JSONObject] = message.get("tool_calls") or []
        return calls

    def call(self, piece: JSONObject) -> Call | None:
        function = piece.get("function")
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return None
        arguments = parsed(function.get("arguments"))
        return Call(piece.get("id", ""), function["name"], arguments)

    def with_pieces(
        self, message: JSONObject, pieces: list[JSONObject]
    ) -> list[JSONObject]:
        return [message | {"tool_calls": pieces}] if pieces else [message]

    def results(self, answers: Sequence[tuple[Call, CallAnswer]]) -> list[JSONObject]:
        return [
            {"role": "tool", "tool_call_id": call.id, "content": answer.text}
            for call, answer in answers
        ]
