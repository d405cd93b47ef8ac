"""Messages as frameworks log them: every dialect, JSON in strings, nothing raised."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from tests.threads.support.strategies import json_values
from threads.domain.formats.traces import shape_blocks, shapes
from threads.domain.message import Message, Role, Usage
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

HI = {"role": "user", "content": "Hi"}
CALL = {"id": "k1", "function": {"name": "boil", "arguments": '{"c": 90}'}}
BOIL = ToolCall("k1", "boil", {"c": 90})


def read(value: Any, role: Role = Role.USER) -> list[tuple[str, tuple[Part, ...]]]:
    return [(m.role.value, m.parts) for m in shapes.read_messages(value, role)]


def user(*parts: Part) -> tuple[str, tuple[Part, ...]]:
    return "user", parts or (Text("Hi"),)


def model(*parts: Part) -> tuple[str, tuple[Part, ...]]:
    return "assistant", parts or (Text("Yes."),)


def system(words: str) -> tuple[str, tuple[Part, ...]]:
    return "system", (Text(words),)


def tool(
    call_id: str, words: str, name: str | None = None
) -> tuple[str, tuple[Part, ...]]:
    return "tool", (ToolResult(call_id, (Text(words),) if words else (), name),)


VALUES: list[tuple[Any, list[Any]]] = [
    (None, []),
    ("", []),
    ("Hi", [user()]),
    ([HI], [user()]),
    (json.dumps(json.dumps([HI])), [user()]),
    ("[broken", [user(Text("[broken"))]),
    ([[HI], [HI]], [user(), user()]),
    ({"messages": [HI], "tools": []}, [user()]),
    ({"system": "S", "messages": [HI]}, [system("S"), user()]),
    ({"prompt": "Hi", "system": "S"}, [system("S"), user()]),
    ({"prompt": None, "text": ""}, []),
    ({"kwargs": {"messages": [{"type": "human", "content": "Hi"}]}}, [user()]),
    ({"args": ["Hi"], "kwargs": {}}, [user()]),
    ({"message": HI, "index": 0}, [user()]),
    (
        {"input": {"a": 1}, "new_message": {"parts": [{"text": "Hi"}], "role": "user"}},
        [user()],
    ),
    ([{"type": "text", "text": "Hi"}], [user()]),
    ({"role": "user", "text": "Hi"}, [user()]),
    ({"contents": "Hi", "model": "m"}, [user()]),
    (
        {
            "config": {"system_instruction": "S"},
            "contents": [{"parts": [{"text": "Hi"}], "role": "user"}],
        },
        [system("S"), user()],
    ),
    (
        {"system_instruction": {"parts": [{"text": "S"}]}, "contents": "Hi"},
        [system("S"), user()],
    ),
    ([{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}], [user()]),
    (
        [{"role": "tool", "content": {"type": "function", "function": {"name": "f"}}}],
        [],
    ),
    ({"content": "role"}, []),
    ([{"nothing": 1}, 3, "odd"], []),
]


@pytest.mark.parametrize(("value", "found"), VALUES)
def test_what_was_given_is_read(value: Any, found: list[Any]) -> None:
    assert read(value) == found


ANSWERS: list[tuple[Any, list[Any]]] = [
    ("Yes.", [model()]),
    ({"role": "assistant", "content": "Yes."}, [model()]),
    ({"choices": [{"message": {"content": "Yes."}}], "model": "m"}, [model()]),
    ({"choices": [{"text": "x"}]}, []),
    (
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Yes."}]}}]},
        [model()],
    ),
    ({"content": {"parts": [{"text": "Yes."}], "role": "model"}}, [model()]),
    ({"completion": "Yes."}, [model()]),
    ([{"toolCallId": "k1", "toolName": "boil", "input": '{"c": 90}'}], [model(BOIL)]),
    ([CALL], [model(BOIL)]),
    ({"role": "assistant", "tool_calls": [CALL], "content": None}, [model(BOIL)]),
    (
        {"role": "assistant", "content": "", "function_call": CALL["function"]},
        [model(ToolCall("call_1", "boil", {"c": 90}))],
    ),
    ({"role": "assistant", "content": json.dumps([CALL])}, [model(BOIL)]),
    ({"role": "tool", "content": [CALL]}, [model(BOIL)]),
    ({"role": "assistant", "content": "[{not calls"}, [model(Text("[{not calls"))]),
    ({"role": "assistant", "content": '[{"a": 1}]'}, [model(Text('[{"a": 1}]'))]),
    (
        {"role": "assistant", "reasoning_content": "Hm.", "content": "Yes."},
        [model(Thinking("Hm."), Text("Yes."))],
    ),
    (
        {
            "object": "response",
            "prompt": None,
            "output": [
                {
                    "type": "reasoning",
                    "summary": [{"type": "summary_text", "text": "Hm."}],
                },
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Yes."}],
                },
                {
                    "type": "function_call",
                    "id": "fc",
                    "call_id": "k1",
                    "name": "boil",
                    "arguments": '{"c": 90}',
                },
                {"type": "function_call_output", "call_id": "k1", "output": "Hot."},
            ],
        },
        [model(Thinking("Hm."), Text("Yes."), BOIL), tool("k1", "Hot.")],
    ),
    (
        [
            {"type": "web_search_call", "id": "w", "name": "x"},
            {"type": "function_call", "call_id": "k", "arguments": "{}"},
        ],
        [
            model(
                Opaque(
                    "web_search_call",
                    {"type": "web_search_call", "id": "w", "name": "x"},
                )
            )
        ],
    ),
]


@pytest.mark.parametrize(("value", "found"), ANSWERS)
def test_what_was_answered_is_read(value: Any, found: list[Any]) -> None:
    assert read(value, Role.ASSISTANT) == found


def test_results_are_linked_by_id_then_name_then_order() -> None:
    calls = [{"name": "boil", "arguments": {}}, {"name": "pour", "arguments": {}}]
    found = read(
        [
            {"role": "assistant", "tool_calls": calls},
            {"role": "pour", "content": "Poured."},
            {"role": "tool", "content": "Hot."},
            {"role": "tool", "content": "Stray."},
            {"role": "tool", "content": "Known.", "tool_call_id": "k9"},
        ]
    )

    assert found[1:] == [
        tool("call_2", "Poured.", "pour"),
        tool("call_1", "Hot."),
        tool("call_0", "Stray."),
        tool("k9", "Known."),
    ]


def test_results_in_parts_are_the_tool_s() -> None:
    gemini = [
        {"role": "model", "parts": [{"function_call": {"name": "boil", "args": {}}}]},
        {
            "role": "user",
            "parts": [
                {"function_response": {"name": "boil", "response": {"result": "Hot."}}}
            ],
        },
    ]
    anthropic = [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "k1", "content": "Hot."}
            ],
        }
    ]
    otel = [
        {
            "role": "tool",
            "parts": [
                {"type": "tool_call_response", "id": ["run", "k1"], "result": "Hot."}
            ],
        }
    ]

    assert read(gemini) == [
        model(ToolCall("call_1", "boil", {})),
        tool("call_1", "Hot.", "boil"),
    ]
    assert read(anthropic) == [("user", tool("k1", "Hot.")[1])]
    assert read(otel) == [tool("k1", "Hot.")]


def test_words_alone_are_no_structure() -> None:
    assert shapes.read_structured("continue", Role.ASSISTANT) == []
    [message] = shapes.read_structured(json.dumps([HI]), Role.USER)
    assert message.text == "Hi"


def test_a_response_says_its_usage() -> None:
    openai = {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    anthropic = {"usage": {"input_tokens": 3, "output_tokens": 2}}

    for value in (openai, json.dumps(anthropic)):
        assert shapes.read_usage(value) == Usage(input_tokens=3, output_tokens=2)
    assert shapes.read_usage({"usage": {}}) is None


PNG = "aGk="
BLOCKS: list[tuple[Any, tuple[Part, ...]]] = [
    ([None, 3, ["x"]], (Text("3"), Text('["x"]'))),
    ({"type": "text", "text": ""}, ()),
    ({"type": "text", "content": {"a": 1}}, (Text('{"a": 1}'),)),
    (
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        (Thinking("Hm.", "s"),),
    ),
    ({"type": "redacted_thinking", "data": "xyz"}, (Thinking("", None, "xyz"),)),
    (
        {"type": "reasoning", "summary": [], "encrypted_content": "e"},
        (Thinking("", None, "e"),),
    ),
    ({"type": "reasoning", "summary": []}, ()),
    (
        {
            "type": "tool_call",
            "id": ["run", "k1"],
            "name": "boil",
            "arguments": {"c": 90},
        },
        (BOIL,),
    ),
    ({"type": "tool_call"}, (Opaque("tool_call", {"type": "tool_call"}),)),
    (
        {
            "type": "tool-result",
            "toolCallId": "k1",
            "toolName": "boil",
            "output": {"type": "text", "value": "Hot."},
        },
        (ToolResult("k1", (Text("Hot."),), "boil"),),
    ),
    (
        {"type": "tool-error", "toolCallId": "k1", "error": "Cold."},
        (ToolResult("k1", (Text("Cold."),), None, True),),
    ),
    (
        {"type": "image", "base64": PNG, "mime_type": "image/png"},
        (Image("image/png", data=b"hi"),),
    ),
    (
        {"type": "image", "image": f"data:image/png;base64,{PNG}"},
        (Image("image/png", data=b"hi"),),
    ),
    (
        {"type": "image", "url": "https://a.example/b"},
        (Image("image/*", url="https://a.example/b"),),
    ),
    (
        {
            "type": "uri",
            "modality": "document",
            "mime_type": "application/pdf",
            "uri": "https://a.example/b",
        },
        (File("application/pdf", url="https://a.example/b"),),
    ),
    (
        {"type": "blob", "modality": "audio", "mime_type": "audio/wav", "content": PNG},
        (File("audio/wav", data=b"hi"),),
    ),
    (
        {"type": "file", "mime_type": "text/plain", "data": ""},
        (Opaque("file", {"type": "file", "mime_type": "text/plain", "data": ""}),),
    ),
    (
        {"type": "image_url", "image_url": {"url": "https://a.example/b"}},
        (Image("image/*", url="https://a.example/b"),),
    ),
    ({"type": "image_url"}, (Opaque("image_url", {"type": "image_url"}),)),
    ({"strange": 1}, (Opaque("block", {"strange": 1}),)),
]


@pytest.mark.parametrize(("block", "found"), BLOCKS)
def test_every_block_is_read(block: Any, found: tuple[Part, ...]) -> None:
    assert shape_blocks.read_blocks(block) == found


def test_an_answer_is_text_blocks_or_json() -> None:
    answers: list[tuple[Any, tuple[Part, ...]]] = [
        (None, ()),
        ("Hot.", (Text("Hot."),)),
        ({"c": 90}, (Text('{"c": 90}'),)),
        ([{"type": "text", "text": "Hot."}], (Text("Hot."),)),
        ({"type": "text", "text": "Hot."}, (Text("Hot."),)),
        ([{"title": "x"}], (Text('[{"title": "x"}]'),)),
    ]
    for answer, found in answers:
        assert shape_blocks.read_answer(answer) == found


@settings(deadline=None)
@given(json_values)
def test_whatever_was_logged_nothing_is_raised(value: Any) -> None:
    for role in (Role.USER, Role.ASSISTANT):
        for message in shapes.read_messages(
            {"messages": [value], "output": value}, role
        ):
            assert isinstance(message, Message)
        for inner in (
            value,
            {"role": "user", "content": value},
            {"type": "message", "role": value},
        ):
            shapes.read_messages([inner], role)


NONE = {"role": "assistant", "content": "None"}


def test_a_content_of_null_that_was_printed_is_no_text() -> None:
    hot = {"role": "tool", "content": "Hot.", "tool_call_id": "k1"}
    calls = {**NONE, "tool_calls": [CALL]}
    assert read([HI, calls, hot]) == [user(), model(BOIL), tool("k1", "Hot.")]
    assert read([HI, NONE, hot]) == [user(), tool("k1", "Hot.")]


def test_one_who_says_none_keeps_it() -> None:
    asked = {"role": "user", "content": "None"}
    hot = {"role": "tool", "content": "None", "tool_call_id": "k1"}
    none = Text("None")
    assert read([asked, NONE, asked]) == [user(none), model(none), user(none)]
    assert read([asked, hot]) == [user(none), tool("k1", "None")]
    assert read([HI, NONE]) == [user(), model(none)]
