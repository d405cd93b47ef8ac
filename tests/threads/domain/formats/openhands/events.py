"""Events of OpenHands' generations, built and read by tests."""

from typing import Any

from tests.threads.support import readings
from threads.domain.transcript import Transcript


def read(data: Any) -> list[Transcript]:
    return readings.read(data, "openhands")


def action(id_: int, name: str, source: str = "agent", **args: Any) -> dict[str, Any]:
    moment = "2026-03-01T10:00:00.5"
    return {
        "id": id_,
        "timestamp": moment,
        "source": source,
        "action": name,
        "args": args,
    }


def seen(id_: int, cause: int, name: str = "run", **more: Any) -> dict[str, Any]:
    return {
        "id": id_,
        "source": "agent",
        "observation": name,
        "cause": cause,
        "content": "a",
        **more,
    }


def told(name: str, call_id: str, **answer: Any) -> dict[str, Any]:
    metadata = {
        "function_name": name,
        "tool_call_id": call_id,
        "model_response": answer,
    }
    return {"tool_call_metadata": metadata}


def calls(*ids: str) -> list[dict[str, Any]]:
    function = {"name": "bash", "arguments": "{}"}
    return [{"id": id_, "type": "function", "function": function} for id_ in ids]


def event(kind: str, id_: str = "", **members: Any) -> dict[str, Any]:
    moment = "2026-03-01T10:00:00.5"
    return {
        "id": id_ or kind,
        "timestamp": moment,
        "source": "agent",
        "kind": kind,
        **members,
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words, "cache_prompt": False}


def acted(call_id: str, response: str, *thought: str, **members: Any) -> dict[str, Any]:
    call = {"id": call_id, "name": "terminal", "arguments": '{"command": "ls"}'}
    return event(
        "ActionEvent",
        call_id,
        thought=[text(words) for words in thought],
        tool_call=call,
        tool_name="terminal",
        tool_call_id=call_id,
        llm_response_id=response,
        **members,
    )


def answered(call_id: str, words: str, **observation: Any) -> dict[str, Any]:
    return event(
        "ObservationEvent",
        f"seen-{call_id}",
        tool_name="terminal",
        tool_call_id=call_id,
        observation={"content": [text(words)], **observation},
    )


def said(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": list(content), **more}
    return event("MessageEvent", f"said-{role}", llm_message=message)


PROMPT = event(
    "SystemPromptEvent",
    system_prompt=text("Be brief."),
    dynamic_context=text("Here."),
    tools=[],
)
LS = {"command": "ls"}
