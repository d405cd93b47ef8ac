"""What an export takes from beside the messages."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from threads.store import records

CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
MESSAGES = [
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "1", "content": "In."},
]
TOOL = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object"}},
}


def finetuned(agent: Client, document: Any) -> Any:
    """The line for fine-tuning of an imported request."""
    file = SimpleUploadedFile("chat.json", json.dumps(document).encode())
    (session,) = agent.post("/api/sessions/import", {"file": file}).json()["sessions"]
    path = f"/api/sessions/{session['id']}/export"
    return json.loads(b"".join(agent.get(path, {"format": "finetuning"})))


def test_the_tools_of_a_request_are_in_the_line_for_fine_tuning(agent: Client) -> None:
    line = finetuned(agent, {"messages": MESSAGES, "tools": [TOOL], "temperature": 1})

    assert line["tools"] == [TOOL]
    assert line["messages"][1]["tool_calls"] == [CALL]


def test_tools_that_nothing_defines_are_declared_by_name(agent: Client) -> None:
    line = finetuned(agent, {"messages": MESSAGES})

    assert [tool["function"]["name"] for tool in line["tools"]] == ["look"]


def test_tools_of_which_the_record_is_cut_are_declared_by_name(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MOST_SHOWN", 10)
    line = finetuned(agent, {"messages": MESSAGES, "tools": [TOOL]})

    assert line["tools"] != [TOOL]
    assert [tool["function"]["name"] for tool in line["tools"]] == ["look"]
