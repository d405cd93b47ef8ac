"""Contents of the Gemini API: requests, responses, streams, checkpoints."""

import base64
import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import read
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.message import Message, Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Event, Transcript

PNG = {"inlineData": {"mimeType": "image/png", "data": "UE5H"}}
SAID = {"role": "model", "parts": [{"text": "Hello."}]}
ASKED = {"role": "user", "parts": [{"text": "Hi"}]}


def read_one(data: Any) -> tuple[Transcript, list[Any]]:
    [found] = read(data)
    assert found.format == "gemini"
    return found, list(found.items)


def parts_of(*parts: Any, role: str = "model") -> tuple[Part, ...]:
    _, items = read_one({"contents": [ASKED, {"role": role, "parts": list(parts)}]})
    found: tuple[Part, ...] = items[1].parts
    return found


def test_a_request_has_its_system_first() -> None:
    request = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "model": "models/m",
    }
    found, items = read_one({**request, "contents": [ASKED, SAID], "key": "row-1"})

    assert [(m.role, m.text) for m in items] == [
        ("system", "Be brief."),
        ("user", "Hi"),
        ("assistant", "Hello."),
    ]
    assert (found.title, found.model, found.strategy) == ("Hi", "m", "gemini")
    assert found.external_id == "row-1"


def test_a_thought_keeps_its_signature_and_a_call_s_signature_stands_before_it() -> (
    None
):
    assert parts_of(
        {"text": "Hm.", "thought": True, "thoughtSignature": "one"},
        {"text": "", "thought": True},
        {"functionCall": {"name": "f"}, "thoughtSignature": "two"},
        {"text": "", "thoughtSignature": "three"},
    ) == (
        Thinking("Hm.", "one"),
        Thinking("", data="two"),
        ToolCall("call_1", "f", {}),
        Thinking("", data="three"),
    )


def test_calls_without_ids_are_linked_by_name_and_order() -> None:
    calls = [
        {"functionCall": {"name": name, "args": {"n": n}}}
        for n, name in enumerate("ffg")
    ]
    answers = [
        {"functionResponse": {"name": name, "response": {"output": name}}}
        for name in "gffh"
    ]
    named = {"functionCall": {"id": "own", "name": "f"}}
    last = {"functionResponse": {"id": "own", "name": "f", "response": {}}}
    _, items = read_one(
        [
            {"role": "model", "parts": calls},
            {"role": "user", "parts": answers},
            {"role": "model", "parts": [named]},
            {"role": "function", "parts": [last]},
        ]
    )

    assert [part.id for part in (*items[0].parts, *items[2].parts)] == [
        "call_1",
        "call_2",
        "call_3",
        "own",
    ]
    assert [part.call_id for part in items[1].parts] == [
        "call_3",
        "call_1",
        "call_2",
        "",
    ]
    assert items[3].parts == (ToolResult("own", (), "f"),)
    assert [item.role for item in items] == ["assistant", "tool", "assistant", "tool"]


@pytest.mark.parametrize(
    ("response", "text", "is_error"),
    [
        ({"output": "ok"}, "ok", False),
        ({"result": {"a": 1}}, '{"a": 1}', False),
        ({"error": "No."}, "No.", True),
        ({"a": 1, "output": "x"}, '{"a": 1, "output": "x"}', False),
        ({"output": None}, "", False),
        ({"content": "See."}, "See.", False),
        ({"name": "f", "content": "See."}, "See.", False),
        ({"name": "f", "content": {"a": [1]}}, '{"a": [1]}', False),
        ({"name": "f", "content": None}, "", False),
        ({"name": "f", "error": "No."}, "No.", True),
        ({"name": "g", "error": "x"}, '{"name": "g", "error": "x"}', False),
        ({"name": "g", "content": "x"}, '{"name": "g", "content": "x"}', False),
        ({"content": ["x"]}, '{"content": ["x"]}', False),
        ({}, "", False),
        (None, "", False),
        ("plain", "plain", False),
    ],
)
def test_a_response_is_its_text(response: Any, text: str, is_error: bool) -> None:
    answer = {"functionResponse": {"name": "f", "response": response}}
    content = (Text(text),) if text else ()

    assert parts_of(answer, role="user") == (ToolResult("", content, "f", is_error),)


def test_pictures_and_files_are_inline_or_elsewhere() -> None:
    pdf = {"mimeType": "application/pdf", "displayName": "a.pdf"}
    with_picture = {
        "name": "f",
        "response": {"output": "See."},
        "parts": [PNG, {"x": 1}],
    }
    assert parts_of(
        PNG,
        {"inlineData": {**pdf, "data": "UERG"}},
        {"fileData": {**pdf, "fileUri": "https://example.org/a"}},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/b"}},
        {"fileData": {"mimeType": "image/png"}},
        {"inlineData": {"mimeType": "image/png", "data": "not base64!"}},
        {"functionResponse": with_picture},
    ) == (
        Image("image/png", data=b"PNG"),
        File("application/pdf", "a.pdf", data=b"PDF"),
        File("application/pdf", "a.pdf", url="https://example.org/a"),
        Image("image/png", url="https://example.org/b"),
        Opaque("fileData", {"fileData": {"mimeType": "image/png"}}),
        Opaque(
            "inlineData",
            {"inlineData": {"mimeType": "image/png", "data": "not base64!"}},
        ),
        ToolResult("", (Text("See."), Image("image/png", data=b"PNG")), "f"),
    )


def test_what_is_not_understood_is_kept_whole() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}

    assert parts_of(code, {}, "bare") == (Opaque("executableCode", code), Text("bare"))


def test_the_names_of_a_python_dump_are_read_too() -> None:
    bytes_ = b"\xfb\xff"
    data = {"mime_type": "image/png", "data": base64.urlsafe_b64encode(bytes_).decode()}
    reply = {
        "candidates": [{"content": {"parts": [{"function_call": {"name": "f"}}]}}],
        "usage_metadata": {"prompt_token_count": 3, "candidates_token_count": 2},
        "model_version": "m",
        "response_id": "r",
        "create_time": "2026-03-01T10:00:00Z",
    }
    found, items = read_one(
        {
            "request": {
                "contents": {"parts": {"inline_data": data}},
                "config": None,
                "system_instruction": "Be brief.",
            },
            "response": reply,
        }
    )

    assert [item.role for item in items] == ["system", "user", "assistant"]
    assert items[0].text == "Be brief."
    assert items[1].parts == (Image("image/png", data=bytes_),)
    assert items[2].parts == (ToolCall("call_1", "f", {}),)
    assert items[2].usage == Usage(input_tokens=3, output_tokens=2)
    assert (items[2].source_id, found.model) == ("r", "m")


def test_the_chunks_of_a_stream_are_one_message() -> None:
    usage = {
        "promptTokenCount": 10,
        "toolUsePromptTokenCount": 1,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 3,
        "cachedContentTokenCount": 6,
    }
    chunks: list[Any] = [
        {"candidates": [{"content": {"parts": [{"text": word}]}}]}
        for word in ("One ", "two.")
    ]
    chunks[-1] |= {"usageMetadata": usage, "modelVersion": "m"}
    found, [message] = read_one([*chunks, {"candidates": [{"finishReason": "STOP"}]}])

    assert message.parts == (Text("One "), Text("two."))
    assert message.usage == Usage(input_tokens=11, output_tokens=7, cached_tokens=6)
    assert len(message.records) == 3
    assert found.warnings == []


@pytest.mark.parametrize("is_text", [False, True])
def test_a_log_may_hold_its_response_as_the_stream_that_it_was(is_text: bool) -> None:
    pieces = [{"role": "model", "parts": [{"text": text}]} for text in ("Hel", "lo.")]
    usage = {"usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 2}}
    chunks: list[Any] = [{"candidates": [{"content": one}], **usage} for one in pieces]
    events = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks)
    log = {"request": {"contents": [ASKED]}, "response": events if is_text else chunks}
    _, items = read_one(log)

    assert [(m.role, m.text) for m in items] == [
        ("user", "Hi"),
        ("assistant", "Hello."),
    ]
    assert items[1].usage == Usage(input_tokens=4, output_tokens=2)


def test_a_checkpoint_of_gemini_cli_is_a_list_or_a_history() -> None:
    _, bare = read_one([ASKED, SAID])
    _, [*kept, login] = read_one({"history": [ASKED, SAID], "authType": "api-key"})
    _, one = read_one(ASKED)

    assert (
        [m.parts for m in bare]
        == [m.parts for m in kept]
        == [(Text("Hi"),), (Text("Hello."),)]
    )
    assert [m.text for m in one] == ["Hi"]
    assert login.type == "authType"


def test_other_members_of_a_request_are_events_behind_its_contents() -> None:
    tools = [{"functionDeclarations": [{"name": "look"}]}]
    body = {"contents": [ASKED, SAID], "tools": tools, "safetySettings": []}
    for data in (body, {"request": body, "response": {}}, {"config": {}, **body}):
        _, items = read_one(data)
        assert [one.type for one in items if isinstance(one, Event)][-1:] == ["tools"]


def test_lines_of_contents_are_one_conversation_and_lines_of_requests_many() -> None:
    _, [first, broken, second] = read_one(lines(ASKED) + b"{\n" + lines(SAID))
    batch = read(lines(*({"contents": [ASKED], "key": str(n)} for n in range(2))))

    assert (first.text, broken.type, second.text) == ("Hi", "unreadable", "Hello.")
    assert [found.external_id for found in batch] == ["0", "1"]


def test_what_is_no_content_is_an_event_with_a_warning() -> None:
    wrong = [{"role": "robot", "parts": []}, {"role": "user", "parts": 3}, 7]
    found, items = read_one(
        {"contents": [ASKED, *wrong], "systemInstruction": 3, "response": {"error": {}}}
    )

    assert [item.type for item in items if isinstance(item, Event)] == [
        "unreadable",
        "unreadable",
        "unreadable",
        "unreadable",
        "response",
    ]
    assert [warning.message.split(":")[0] for warning in found.warnings] == [
        "At systemInstruction",
        "At contents[1].role",
        "At contents[2].parts",
        "At contents[3]",
    ]


def test_a_reply_that_is_none_is_an_event() -> None:
    reply = {"candidates": [{"content": {"parts": 3}}]}
    found, items = read_one({"contents": [ASKED], "response": reply})

    assert items[1].type == "response"
    assert found.warnings[0].message.startswith("At candidates[0].content.parts:")


def test_a_content_that_is_no_json_is_left_out_with_its_place() -> None:
    raw = b'{"contents": [%b, {"role": oops}]}' % json.dumps(ASKED).encode()
    [found] = formats.read(io.BytesIO(raw), "gemini")
    items = list(found.items)

    assert [type(item) for item in items] == [Message, Event]
    assert found.warnings[0].message.startswith("At contents[1]:")


def test_a_content_without_parts_is_an_empty_message() -> None:
    _, items = read_one({"contents": [ASKED, {"role": "model"}]})

    assert items[1].parts == ()


@pytest.mark.parametrize(
    "data", [{"contents": []}, {"candidates": []}, {"contents": [3]}]
)
def test_a_file_without_messages_is_refused(data: Any) -> None:
    with pytest.raises(Invalid):
        formats.read(io.BytesIO(json.dumps(data).encode()), "gemini")


def test_messages_of_another_kit_with_parts_are_not_taken_for_gemini_s() -> None:
    other = [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]

    assert "gemini" not in [
        c.format for c in formats.detect(json.dumps(other).encode())
    ]
