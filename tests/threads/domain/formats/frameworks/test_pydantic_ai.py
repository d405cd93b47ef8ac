"""Pydantic AI's messages: a request may hold several speakers, and what was sent comes once."""

import base64
from typing import Any

from tests.threads.support.readings import events, messages, parts, read
from threads.domain.message import Role, Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

PNG = base64.urlsafe_b64encode(b"\xfb\xff\x89PNG").decode()


def request(*given: Any, **members: Any) -> dict[str, Any]:
    return {"kind": "request", "parts": list(given), **members}


def response(*given: Any, **members: Any) -> dict[str, Any]:
    return {"kind": "response", "parts": list(given), "model_name": "m-1", **members}


def part(kind: str, content: Any = None, **members: Any) -> dict[str, Any]:
    return {"part_kind": kind, "content": content, **members}


def called(arguments: Any) -> dict[str, Any]:
    return part("tool-call", tool_name="look", args=arguments, tool_call_id="c1")


def returned(content: Any, **members: Any) -> dict[str, Any]:
    return part("tool-return", content, tool_name="look", tool_call_id="c1", **members)


def test_a_request_is_a_message_for_each_speaker() -> None:
    prompt = part("user-prompt", "Which lamp?", timestamp="2026-03-02T10:00:00Z")
    usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_tokens": 1}
    data = [
        request(
            part("system-prompt", "You mend lamps."), prompt, instructions="Be brief."
        ),
        response(
            part("thinking", "Hm.", signature="seal"), called('{"a": 1}'), usage=usage
        ),
        request(returned({"glows": True}), instructions="Be brief."),
        response(
            part("text", "That one."), part("text", ""), usage={}, state="interrupted"
        ),
        request(),
    ]

    [found] = read(data)

    assert (found.format, found.title, found.model) == (
        "pydantic_ai",
        "Which lamp?",
        "m-1",
    )
    assert [message.role for message in messages(found)] == [
        Role.SYSTEM,
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]
    assert parts(found)[3:] == [
        (Thinking("Hm.", "seal"), ToolCall("c1", "look", {"a": 1})),
        (ToolResult("c1", (Text('{"glows": true}'),), "look"),),
        (Text("That one."),),
    ]
    usage_read = messages(found)[3].usage
    assert usage_read == Usage(input_tokens=5, output_tokens=2, cached_tokens=1)
    assert (messages(found)[5].usage, messages(found)[5].partial) == (None, True)
    assert events(found) == ["request"]


def test_media_are_images_and_files() -> None:
    binary = {"kind": "binary", "data": PNG, "media_type": "image/png"}
    content = [
        "See:",
        "",
        binary,
        {**binary, "media_type": "application/pdf", "identifier": "a.pdf"},
        {**binary, "data": "?"},
        {"kind": "image-url", "url": "https://lamps.test/1.png"},
        {"kind": "document-url", "url": "https://lamps.test/1.pdf"},
        {"kind": "text-content", "content": "More."},
        {"kind": "cache-point"},
    ]

    [found] = read({"messages": [request(part("user-prompt", content))], "usage": {}})

    assert parts(found) == [
        (
            Text("See:"),
            Image("image/png", data=b"\xfb\xff\x89PNG"),
            File("application/pdf", "a.pdf", data=b"\xfb\xff\x89PNG"),
            Opaque("binary", content[4]),
            Image("image/*", url="https://lamps.test/1.png"),
            File("application/octet-stream", url="https://lamps.test/1.pdf"),
            Text("More."),
            Opaque("cache-point", {"kind": "cache-point"}),
        )
    ]


def test_retries_are_results_or_the_users() -> None:
    wrong = [{"type": "missing", "loc": ["a"]}]
    data = [
        request(part("retry-prompt", wrong, tool_name="look", tool_call_id="c1")),
        request(part("retry-prompt", "Try again.")),
        request(returned("No.", outcome="failed"), returned(None)),
    ]

    [found] = read(data)

    listed = '[{"type": "missing", "loc": ["a"]}]'
    assert parts(found) == [
        (ToolResult("c1", (Text(listed),), "look", True),),
        (Text("Try again."),),
        (
            ToolResult("c1", (Text("No."),), "look", True),
            ToolResult("c1", (), "look"),
        ),
    ]


def test_what_no_other_part_is_stays_whole() -> None:
    builtin = part("builtin-tool-call", tool_name="web_search", args={"q": "lamp"})
    picture = {"kind": "binary", "data": PNG, "media_type": "image/png"}
    odd = part("tool-availability-delta", tools_added=["a"])
    data = [
        request(odd),
        response(
            builtin,
            part("file", picture),
            part("thinking", "", signature="all"),
            part("thinking", ""),
            called(None),
        ),
    ]

    [found] = read(data)

    assert parts(found) == [
        (Opaque("tool-availability-delta", odd),),
        (
            Opaque("builtin-tool-call", builtin),
            Image("image/png", data=b"\xfb\xff\x89PNG"),
            Thinking("", data="all"),
            ToolCall("c1", "look", {}),
        ),
    ]


def test_a_broken_message_is_a_warning() -> None:
    data = [request(part("user-prompt", "Hi."), conversation_id="r-1"), response(7)]

    [found] = read(data)

    assert found.external_id == "r-1"
    assert events(found) == ["unreadable"]
    assert "parts[0]" in found.warnings[0].message
