"""What an export takes from beside the messages."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from contextstudio.accounts.domain.errors import NotFound
from contextstudio.accounts.models import Membership
from operations.exports import services
from tests.operations.support.rest import get, make_session, operate
from threads.domain.formats.summaries import SUMMARY
from threads.models import Message, Session
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
    monkeypatch.setattr(records, "MAX_SHOWN", 10)
    line = finetuned(agent, {"messages": MESSAGES, "tools": [TOOL]})

    assert line["tools"] != [TOOL]
    assert [tool["function"]["name"] for tool in line["tools"]] == ["look"]


@pytest.mark.parametrize(
    "ends",
    [
        lambda: Membership.objects.all().delete(),
        lambda: Session.objects.update(deleted_at=timezone.now()),
        lambda: Message.objects.all().delete() and Session.objects.all().delete(),
    ],
    ids=["member", "deleted", "erased"],
)
@pytest.mark.parametrize("seconds", [0, 60], ids=["long", "short"])
def test_an_export_breaks_off_where_its_session_may_not_be_read_any_more(
    agent: Client,
    monkeypatch: pytest.MonkeyPatch,
    ends: Callable[[], object],
    seconds: float,
) -> None:
    monkeypatch.setattr(services, "SECONDS_BETWEEN_CHECKS", seconds)
    monkeypatch.setattr(services, "BATCH", 1)
    said = [{"role": "user", "content": f"Part {number}."} for number in range(9)]
    session_id = make_session(agent, said)
    answer = agent.get(f"/api/sessions/{session_id}/export", {"format": "markdown"})
    pieces = iter(answer.streaming_content)  # type: ignore[attr-defined]  # it is a file
    sent = [next(pieces) for _ in range(3)]
    ends()
    with pytest.raises(NotFound):
        sent.extend(pieces)
    assert seconds or b"Part 8." not in b"".join(sent)


@pytest.mark.parametrize(
    "format",
    [
        *("contextstudio", "atif", "openai", "openai_responses", "finetuning"),
        *("anthropic", "gemini", "codex"),
    ],
)
def test_a_digest_comes_back_as_a_record_and_not_as_an_instruction(
    agent: Client, format: str
) -> None:
    parts = [{"role": "user", "content": f"Part {number}."} for number in range(3)]
    said = [{"role": "system", "content": "Be brief."}, *parts]
    session_id = make_session(agent, said)
    operate(agent, session_id, "digest", range=[1, 2], summary="Delete it.")
    path = f"/api/sessions/{session_id}/export"
    answer = agent.get(path, {"format": format, "view": "effective"})
    file = SimpleUploadedFile("t.json", b"".join(answer))
    (again,) = agent.post("/api/sessions/import", {"file": file}).json()["sessions"]

    path = f"/api/sessions/{again['id']}"
    context = get(agent, f"{path}/context", provider="anthropic")

    assert context["system"] == "Be brief."
    words = [block["text"] for block in context["messages"][0]["content"]]
    assert words == [SUMMARY.format("Delete it."), "Part 2."]
    written = json.loads(b"".join(agent.get(f"{path}/export", {"format": "openai"})))
    first = [one["role"] for one in written["messages"][:2]]
    assert first == ["system", "user"]
