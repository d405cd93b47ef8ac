"""`apply` and the exports of a session, through the doors: one rule for both."""

import base64
import io
import json
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from operations.domain.log.operation import Redact
from operations.domain.providers.passes.media import LEAD
from operations.domain.providers.passes.turn_order import CLOSER
from operations.edits import services
from tests.operations.domain.forwarding.sending import said_in
from tests.operations.support.builders import span
from tests.operations.support.rest import get, make_session, operate, post
from tests.people import caller
from tests.threads.support.transcripts import answer, call, lines, result, text, user
from threads.domain.part import Text
from threads.models import Blob

PNG = b"\x89PNG\r\n\x1a\n"
PICTURE = {
    "type": "image",
    "source": {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(PNG).decode(),
    },
}
FORMATS = ("openai", "anthropic")


@pytest.fixture
def session_id(agent: Client) -> str:
    """A session of Claude Code: calls side by side, with results one by one."""
    return imported(agent, lines(*records()))


def records() -> list[dict[str, Any]]:
    shot = [{"type": "tool_result", "tool_use_id": "c3", "content": [PICTURE]}]
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "sealed"}
    return [
        user("u1", None, "Please look."),
        answer("a1", "u1", thinking, turn="msg_1"),
        answer("a2", "a1", call("c1"), turn="msg_1"),
        answer("a3", "a2", call("c2"), turn="msg_1"),
        user("r1", "a2", result("c1")),
        user("r2", "a3", result("c2")),
        answer("a4", "r2", text("And once more."), turn="msg_2"),
        answer("a5", "a4", call("c3"), turn="msg_2"),
        user("r3", "a5", shot),
        answer("a6", "r3", text("All is well."), turn="msg_3"),
        user("u2", "a6", [PICTURE, {"type": "text", "text": "And this?"}]),
    ]


COUNT = 8


def imported(agent: Client, content: bytes) -> str:
    file = io.BytesIO(content)
    file.name = "agent.jsonl"
    answer = agent.post("/api/sessions/import", {"file": file})
    assert answer.status_code == 201, answer.content
    session_id: str = answer.json()["sessions"][0]["id"]
    return session_id


def export(agent: Client, session_id: str, format: str, view: str) -> Any:
    query = {"format": format, "view": view}
    answer = agent.get(f"/api/sessions/{session_id}/export", query)
    found = json.loads(b"".join(answer))
    return {name: found[name] for name in ("messages", "system") if name in found}


def redact(owner: User, session_id: str, key: str, words: str, secret: str) -> str:
    """Mask a word of a message; the id of the operation."""
    start = words.index(secret)
    covered = span(key, start, start + len(secret), secret)
    edit = Redact(spans=(covered,))
    transaction = services.record_edit(caller(owner), UUID(session_id), edit)
    return str(transaction.history.rows[transaction.numbers[0]].id)


def apply(agent: Client, session_id: str, body: Any, **members: Any) -> Any:
    return post(agent, f"/api/sessions/{session_id}/apply", {**body, **members})


def agree(agent: Client, session_id: str, format: str, **members: Any) -> Any:
    """What `apply` answers to the original export: the effective one, and what was done."""
    body = export(agent, session_id, format, "original")
    found = apply(agent, session_id, body, format=format, append=False)
    expected = export(agent, session_id, format, "effective")
    said = said_in(expected["messages"], format)
    # Images leave OpenAI's results with a lead: of its own messages the client knows better.
    said = [one for one in said if one[1] != Text(LEAD)]
    assert said_in(found["messages"], format) == said
    assert found.get("system") == expected.get("system")
    return found


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_applied_is_the_effective_export(
    agent: Client, owner: User, session_id: str, format: str
) -> None:
    assert get(agent, f"/api/sessions/{session_id}")["message_count"] == COUNT
    before = agree(agent, session_id, format)
    recorded = [
        operate(agent, session_id, "snip", range=[1, 3])["operation_id"],
        operate(agent, session_id, "digest", range=[4, 5], summary="So.")[
            "operation_id"
        ],
        operate(agent, session_id, "resequence", new_order=[7, 6])["operation_id"],
        redact(owner, session_id, "m6", "All is well.", "well"),
    ]
    after = agree(agent, session_id, format)

    assert before["applied"] == before["suspended"] == after["suspended"] == []
    assert after["applied"] == recorded
    context = get(agent, f"/api/sessions/{session_id}/context", provider=format)
    assert after["tokens"] == {
        "before": before["tokens"]["before"],
        "after": context["tokens"]["sent"],
    }
    assert "well" not in json.dumps(after["messages"])


def test_what_the_api_shows_is_known_again(agent: Client, session_id: str) -> None:
    items = get(agent, f"/api/sessions/{session_id}/messages")["items"]
    inline = get(agent, f"/api/sessions/{session_id}/messages", inline=1)["items"]
    operate(agent, session_id, "snip", range=[0, 0])
    for found in (items, inline):
        assert apply(agent, session_id, {"messages": found})["messages"] == found[1:]
    assert get(agent, f"/api/sessions/{session_id}")["message_count"] == COUNT


def test_what_the_api_shows_of_another_session_is_recorded_as_it_was(
    agent: Client, session_id: str
) -> None:
    items = get(agent, f"/api/sessions/{session_id}/messages")["items"]
    other = make_session(agent, [])
    apply(agent, other, {"messages": items})
    copied = get(agent, f"/api/sessions/{other}/messages")["items"]

    assert [one["parts"] for one in copied] == [one["parts"] for one in items]
    Blob.objects.all().delete()
    third = make_session(agent, [])
    apply(agent, third, {"messages": items})
    [picture, _] = get(agent, f"/api/sessions/{third}/messages")["items"][-1]["parts"]
    assert picture["url"].startswith("/api/blobs/") and "sha256" not in picture


def test_a_client_goes_on_from_an_export(agent: Client, session_id: str) -> None:
    body = export(agent, session_id, "anthropic", "original")
    said = [{"role": "assistant", "content": "Fine, too."}]
    operate(agent, session_id, "snip", range=[4, 5])
    answer = apply(
        agent,
        session_id,
        {"messages": [*body["messages"], *said]},
        format="anthropic",
    )

    *_, last, closer = answer["messages"]
    assert last == said[0]
    assert closer == {"role": "user", "content": CLOSER}
    assert len(answer["messages"][2]["content"]) == 2
    assert len(answer["messages"]) == 7
    assert get(agent, f"/api/sessions/{session_id}")["message_count"] == COUNT + 1
    agree(agent, session_id, "anthropic")


def test_the_project_of_another_holds_no_images_of_ours(
    agent: Client, session_id: str, project: Project
) -> None:
    """An address names what the project holds, and nothing of anybody else's."""
    Blob.objects.update(
        project=Project.objects.create(slug="elsewhere", name="Elsewhere")
    )
    items = get(agent, f"/api/sessions/{session_id}/messages")["items"]
    other = make_session(agent, [])
    apply(agent, other, {"messages": items})
    [picture, _] = get(agent, f"/api/sessions/{other}/messages")["items"][-1]["parts"]
    assert "sha256" not in picture
