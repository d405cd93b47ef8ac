"""Messages and their images through REST."""

import base64
import json
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from tests.operations.support.rest import get, make_session, post, said
from tests.people import client_of
from tests.threads.imports.uploads import PNG, SVG, image, with_image

# Messages


def test_messages_are_read_half_open(agent: Client) -> None:
    path = f"/api/sessions/{make_session(agent, 10)}/messages"

    def indexes(**query: Any) -> list[int]:
        return [item["index"] for item in get(agent, path, **query)["items"]]

    assert indexes() == list(range(10))
    assert indexes(start=2, end=5) == [2, 3, 4]
    assert indexes(start=8, end=99) == [8, 9]
    assert indexes(start=5, end=5) == indexes(start=5, end=2) == []
    assert indexes(start=-3, end=2) == [0, 1]
    assert indexes(start=10**30) == []
    assert indexes(end=10**30) == list(range(10))


def test_an_answer_says_where_it_stopped_and_how_many_messages_there_are(
    agent: Client,
) -> None:
    """Without an end there are a hundred: whoever takes them for all would miss the rest."""
    path = f"/api/sessions/{make_session(agent, 120)}/messages"
    found, start = [], 0
    while start < (page := get(agent, path, start=start))["message_count"]:
        assert page["end"] == start + len(page["items"])
        found += [item["index"] for item in page["items"]]
        start = page["end"]
    assert found == list(range(120))
    assert get(agent, path, start=10**30)["end"] == 120
    assert get(agent, path, start=7, end=7)["end"] == 7


def test_a_message_says_all_that_the_contract_promises(agent: Client) -> None:
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "read", "arguments": '{"path": "a.py"}'},
    }
    given = [
        {"role": "user", "content": "Read a.py"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "x = 1"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "So.", "signature": "seal"},
                {"type": "text", "text": "It sets x."},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "content": "2"},
            ],
        },
    ]
    session_id = make_session(agent, given)
    user, calling, result, thinking, several = get(
        agent, f"/api/sessions/{session_id}/messages"
    )["items"]
    assert set(user) == {
        *("key", "id", "short_id", "index", "role", "content", "parts"),
        *("tool_results", "parsing_strategy", "group_id", "status", "tags"),
        *("tokens", "weight", "usage", "created_at"),
    }
    assert (user["key"], user["status"], user["group_id"]) == ("m0", "complete", 1)
    assert calling["content"] is None
    assert calling["tool_calls"][0]["id"] == "call_1"
    arguments = calling["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"path": "a.py"}
    assert (result["tool_call_id"], result["content"]) == ("call_1", "x = 1")
    assert result["tool_results"][0]["content"] == "x = 1"
    assert thinking["content"] == "It sets x."
    assert thinking["parts"][0]["type"] == "thinking"
    assert [one["tool_call_id"] for one in several["tool_results"]] == ["a", "b"]
    assert "tool_call_id" not in several
    assert several["group_id"] == 1


def test_messages_are_appended_if_the_session_is_as_long_as_is_thought(
    agent: Client,
) -> None:
    path = f"/api/sessions/{make_session(agent, 2)}/messages"
    longer = post(agent, path, {"messages": said(1), "expected_count": 2}, expect=201)
    assert longer["message_count"] == 3
    refused = post(agent, path, {"messages": said(1), "expected_count": 2}, expect=409)
    assert (refused["code"], refused["message_count"]) == ("stale_count", 3)
    assert refused["at"] == ["expected_count"]
    assert post(agent, path, {"messages": said(1)}, expect=201)["message_count"] == 4
    post(agent, path, {"messages": []}, expect=422)


UNREAD: list[tuple[dict[str, Any], str]] = [
    ({"role": "user"}, "content"),
    ({"role": "user", "parts": [{"text": "Hi"}]}, "parts"),
]


@pytest.mark.parametrize(("message", "member"), UNREAD)
def test_a_message_that_was_not_understood_is_refused_at_its_member(
    agent: Client, message: dict[str, Any], member: str
) -> None:
    session = make_session(agent, 2)
    body = {"messages": [*said(1), message]}
    for path in ("/api/sessions", f"/api/sessions/{session}/messages"):
        refused = post(agent, path, body, expect=422)
        assert refused["at"] == ["messages", 1, member]
        assert refused["code"] == "message_not_understood"
    assert get(agent, f"/api/sessions/{session}")["message_count"] == 2


def test_text_of_any_kind_comes_out_as_it_went_in(agent: Client) -> None:
    words = "NUL \x00, half a pair \ud83d, a whole 😀, \u2028 and \x1b[31m"
    arguments = {"\ud800": "\x00"}
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "echo", "arguments": json.dumps(arguments)},
    }
    session_id = make_session(
        agent,
        [
            {"role": "user", "content": words},
            {"role": "assistant", "content": "", "tool_calls": [call]},
        ],
        title=words,
        system=words,
    )
    path = f"/api/sessions/{session_id}"
    system, user, calling = get(agent, f"{path}/messages")["items"]
    assert system["content"] == user["content"] == words
    assert calling["parts"][0]["arguments"] == arguments
    shown = get(agent, f"{path}/thread")["nodes"]
    assert shown[1]["content"] == words
    exported = b"".join(agent.get(f"{path}/export"))
    assert json.loads(exported)["messages"][1]["parts"][0]["text"] == words


def test_what_two_models_read_is_counted_as_each_of_them_counts(agent: Client) -> None:
    words = [{"role": "user", "content": "Übermorgen 日本語の文章 naïve"}]
    first = make_session(agent, words, model="gpt-4o")
    second = make_session(agent, words, model="gpt-4")
    encodings, counts = [], []
    for session_id in (first, second):
        session = get(agent, f"/api/sessions/{session_id}")
        encodings.append(session["encoding"])
        counts.append(session["tokens"])
    assert encodings == ["o200k_base", "cl100k_base"]
    assert 0 < counts[0] < counts[1]


# Images


def test_an_image_is_named_by_its_address_or_given_inline(agent: Client) -> None:
    session_id = make_session(agent, [with_image()])
    for path in ("messages", "thread", "thread?view=original&start=0"):
        address = f"/api/sessions/{session_id}/{path}"
        answer = get(agent, address)
        (item,) = answer.get("items") or answer["nodes"]
        url = item["content"][1]["image_url"]["url"]
        assert url == f"/api/blobs/{item['parts'][1]['sha256']}"
        answer = get(agent, address + ("&" if "?" in path else "?") + "inline=1")
        (item,) = answer.get("items") or answer["nodes"]
        assert item["content"][1] == image(PNG, "image/png")
    blob = agent.get(url)
    assert blob.content == PNG
    assert blob["Content-Type"] == "image/png"
    assert blob["Content-Disposition"] == "inline"


@pytest.mark.parametrize("media_type", ["image/svg+xml", "text/html", "x/y\r\nz: 1"])
def test_what_a_browser_could_run_is_only_downloaded(
    agent: Client, media_type: str
) -> None:
    block = {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": media_type,
            "data": base64.b64encode(SVG).decode(),
        },
    }
    session_id = make_session(agent, [{"role": "user", "content": [block]}])
    (item,) = get(agent, f"/api/sessions/{session_id}/messages")["items"]
    blob = agent.get(f"/api/blobs/{item['parts'][0]['sha256']}")
    assert blob.content == SVG
    assert blob["Content-Type"] == "application/octet-stream"
    assert blob["Content-Disposition"] == "attachment"
    assert blob["X-Content-Type-Options"] == "nosniff"
    assert blob["Content-Security-Policy"] == "default-src 'none'; sandbox"


def test_a_blob_of_another_project_is_not_there(agent: Client, stranger: User) -> None:
    session_id = make_session(agent, [with_image()])
    (item,) = get(agent, f"/api/sessions/{session_id}/messages")["items"]
    address = f"/api/blobs/{item['parts'][1]['sha256']}"
    other = client_of(stranger, Project.objects.get(slug="other"))
    refused = other.get(address)
    assert (refused.status_code, refused.json()["at"]) == (404, ["sha256"])
    for name in ("x", "%00", "A" * 64, "..%2F..%2Fetc"):
        assert agent.get(f"/api/blobs/{name}").status_code == 404


def test_a_message_whose_time_is_no_time_is_refused_at_its_place(agent: Client) -> None:
    session_id = make_session(agent, [])
    message = {"role": "user", "content": "Hi", "created_at": "yesterday"}
    path = f"/api/sessions/{session_id}/messages"
    refused = post(agent, path, {"messages": [message]}, expect=422)
    assert refused["at"] == ["messages", 0, "created_at"]
