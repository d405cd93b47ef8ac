"""grok.com's data export: conversations of responses that name the one they answer."""

from datetime import UTC, datetime
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, parts, read, texts
from threads.domain.part import Image, Opaque, Text, Thinking


def said(id_: str, sender: str, message: str, **members: Any) -> dict[str, Any]:
    time = {"$date": {"$numberLong": "1772445600000"}}
    given = {"_id": id_, "sender": sender, "message": message, "create_time": time}
    return {"response": {**given, **members}, "share_link": None}


def exported(*responses: Any, **about: Any) -> dict[str, Any]:
    conversation = {"id": "g-1", "title": "Lamps", **about}
    return {
        "conversations": [{"conversation": conversation, "responses": list(responses)}]
    }


def test_responses_without_parents_follow_one_another() -> None:
    steps = [{"text": ["Looked."]}]
    data = exported(
        said("1", "human", "Which lamp?"),
        said(
            "2",
            "ASSISTANT",
            "That one.",
            model="g-4",
            thinking_trace="Hm.",
            agent_thinking_traces=[{"thinking_trace": "Ha."}, {}],
            generated_image_urls=["https://lamps.test/1.png", 7],
            steps=steps,
            partial=True,
        ),
        said("3", "human", ""),
    )

    [found] = read(data)

    assert (found.format, found.title, found.external_id) == (
        "grok_com",
        "Lamps",
        "g-1",
    )
    assert parts(found) == [
        (Text("Which lamp?"),),
        (
            Thinking("Hm."),
            Thinking("Ha."),
            Text("That one."),
            Image("image/*", url="https://lamps.test/1.png"),
            Opaque("steps", {"type": "steps", "steps": steps}),
        ),
    ]
    answer = messages(found)[1]
    assert (answer.model, answer.partial) == ("g-4", True)
    assert answer.created_at == datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert events(found) == ["conversation", "empty"]


def test_responses_with_parents_may_branch() -> None:
    data = exported(
        said(
            "1",
            "human",
            "Look.",
            parent_response_id=None,
            create_time="2026-03-02T10:00:00Z",
        ),
        said("2", "assistant", "Dark.", parent_response_id="1"),
        said("3", "assistant", "It glows.", parent_response_id="1"),
        leaf_response_id="2",
    )

    main, branch = read(data)

    assert texts(main) == ["Look.", "Dark."]
    assert texts(branch) == ["Look.", "It glows."]


def test_an_export_without_responses_is_refused() -> None:
    with pytest.raises(Invalid, match=r"a grok\.com conversation"):
        read({"conversations": [{"conversation": {}}]}, "grok_com")
