"""The Gemini API."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from contextstudio.accounts.responses import dump, read_json
from operations.forwarding.proxy.bodies import DECLARED, declared_in
from operations.forwarding.toolbox import CallAnswer, OfferedTool

from .form import Call, JSONObject, Members, Stripper, ToolForm

_SIGNATURE = "thoughtSignature"
_RESULTS = {"functionResponse", "function_response"}
_CALLING = ("functionCallingConfig", "function_calling_config")


class GeminiStripper(Stripper):
    """A signature is on the first call of a step; it moves to the first one that remains."""

    def __init__(self, names: AbstractSet[str]) -> None:
        super().__init__(names)
        self._signature: str | None = None

    def take(self, value: JSONObject) -> JSONObject | None:
        """A response, or a chunk of one."""
        for candidate in value.get("candidates") or ():
            content = candidate.get("content") or {}
            if "parts" in content:
                content["parts"] = list(filter(self._stays, content["parts"]))
        return value

    def _stays(self, part: JSONObject) -> bool:
        if not isinstance(call := part.get("functionCall"), dict):
            return True
        if call.get("name") in self.names:
            self._signature = part.get(_SIGNATURE) or self._signature
            return False
        if self._signature and _SIGNATURE not in part:
            part[_SIGNATURE] = self._signature
        self._signature = None
        return True


class GeminiTools(ToolForm):
    """Parts with `functionCall` and `functionResponse`; tools are in one list of declarations."""

    stripper = GeminiStripper

    def suits(self, value: JSONObject) -> bool:
        """Not beside tools that the provider runs itself, nor with several candidates.

        Anything that isn't a list of declarations is left for the provider to refuse. Several
        candidates might each call something else.
        """
        config = value.get("generationConfig", value.get("generation_config"))
        config = config if isinstance(config, dict) else {}
        count = config.get("candidateCount", config.get("candidate_count"))
        given = value.get("tools") or ()
        return count in (None, 1) and all(
            name in DECLARED and isinstance(declared, list)
            for one in given
            for name, declared in one.items()
        )

    def definitions(self, tools: Sequence[OfferedTool]) -> list[JSONObject]:
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "parametersJsonSchema": tool.parameters,
            }
            for tool in tools
        ]

    def with_tools(self, members: Members, tools: Sequence[OfferedTool]) -> bytes:
        """A single list of declarations, because the provider refuses several."""
        given = members.get("tools")
        own = read_json(bytes(memoryview(given))) if given is not None else None
        declared = [tool for one in own or () for tool in declared_in(one)]
        return dump([{DECLARED[0]: [*declared, *self.definitions(tools)]}])

    def without_calls(self, value: JSONObject) -> tuple[str, bytes]:
        """The client's other settings stay. A name is in one spelling or the other."""
        member = "tool_config" if "tool_config" in value else "toolConfig"
        given = value.get(member)
        kept = given.items() if isinstance(given, dict) else ()
        config = {name: one for name, one in kept if name not in _CALLING}
        return member, dump(config | {_CALLING[0]: {"mode": "NONE"}})

    def is_said(self, message: JSONObject) -> bool:
        return message.get("role") == "model"

    def pieces(self, message: JSONObject) -> list[JSONObject]:
        return _parts(message)

    def call(self, piece: JSONObject) -> Call | None:
        call = piece.get("functionCall", piece.get("function_call"))
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            return None
        return Call(call.get("id") or "", call["name"], call.get("args") or {})

    def with_pieces(
        self, message: JSONObject, pieces: list[JSONObject]
    ) -> list[JSONObject]:
        return [message | {"parts": pieces}]

    def returned(self, piece: JSONObject, made: JSONObject) -> JSONObject:
        """With its own signature, not with one that was moved to it from a call of ours."""
        moved = (_SIGNATURE, "thought_signature")
        kept = {name: value for name, value in piece.items() if name not in moved}
        signature = {_SIGNATURE: made[_SIGNATURE]} if _SIGNATURE in made else {}
        return kept | signature

    def results(self, answers: Sequence[tuple[Call, CallAnswer]]) -> list[JSONObject]:
        parts = [
            {
                "functionResponse": ({"id": call.id} if call.id else {})
                | {"name": call.name, "response": _object(answer)}
            }
            for call, answer in answers
        ]
        return [{"role": "user", "parts": parts}]

    def with_results(
        self,
        results: Sequence[JSONObject],
        following: JSONObject,
        hidden: Sequence[bool],
    ) -> JSONObject | None:
        """In the order of the calls, by which they are matched if these have no ids."""
        own = _parts(following)
        if not any(_RESULTS & part.keys() for part in own):
            return None
        theirs = iter(own)
        ours = iter([part for message in results for part in message["parts"]])
        in_turn = (next(ours if is_ours else theirs, None) for is_ours in hidden)
        parts = [part for part in in_turn if part is not None]
        return following | {"parts": [*parts, *theirs]}


def _parts(content: JSONObject) -> list[JSONObject]:
    given = content.get("parts")
    parts = given if isinstance(given, list) else []
    return [part for part in parts if isinstance(part, dict)]


def _object(answer: CallAnswer) -> JSONObject:
    value = read_json(answer.text.encode())
    return value if isinstance(value, dict) else {"result": value}
