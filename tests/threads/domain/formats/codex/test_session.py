"""Codex's rollouts: what of them is the conversation."""

import base64
import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages
from tests.threads.support.rollouts import (
    SESSION,
    as_file,
    call,
    event,
    item,
    meta,
    output,
    record,
    rollout,
    said,
    thought,
    tokens,
    turn,
)
from threads.domain.formats.codex import reading as codex_reading
from threads.domain.formats.io import source
from threads.domain.message import Message, Usage
from threads.domain.part import Image, Opaque, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event

from .rollouts import read, spoken


def test_an_answer_is_its_items_up_to_the_outputs() -> None:
    transcript, items = read(*rollout())
    found = messages(items)

    assert [str(message.role) for message in found] == [
        "system",
        "developer",
        "user",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert found[0].text == "Be a lamp."
    assert found[4].parts == (
        Thinking("Perhaps the plug.", data="c2VhbA=="),
        Text("Looking."),
        ToolCall("c1", "shell", {"cmd": "ls"}),
        ToolCall("c2", "apply_patch", "*** Begin"),
    )
    assert found[5].parts == (ToolResult("c1", (Text("ok"),)),)
    assert found[6].parts == (ToolResult("c2", (Text("Done."),)),)
    assert [message.model for message in found][4:] == [
        "gpt-test",
        None,
        None,
        "gpt-test",
    ]
    assert (transcript.title, transcript.model) == ("Why is it dark?", "gpt-test")
    assert (transcript.external_id, transcript.strategy) == (SESSION, "openai")
    assert (transcript.parent, transcript.warnings) == (None, [])


def test_every_line_is_a_message_s_or_an_event() -> None:
    raw = as_file(*rollout())
    _, items = read(raw)
    places = [
        place
        for one in items
        for place in (one.records if isinstance(one, Message) else (one.record,))
    ]

    spans = [line.span.record for line in source.lines(io.BytesIO(raw))]
    assert sorted(places) == sorted(spans)
    assert messages(items)[4].records == (spans[7], spans[9], spans[10], spans[11])
    assert messages(items)[7].records == (spans[16], spans[18])


def test_tokens_are_told_once() -> None:
    found = [message.usage for message in messages(read(*rollout())[1])]

    assert found[4:] == [
        Usage(input_tokens=9, output_tokens=7, cached_tokens=4),
        None,
        None,
        Usage(input_tokens=9, output_tokens=3, cached_tokens=4),
    ]


def test_tokens_told_before_the_outputs_or_of_nothing_are_taken_too() -> None:
    _, items = read(
        said("user", "Hi"),
        event("token_count", info=None),
        tokens(1),
        call("c1"),
        tokens(2, output_tokens=5),
        output("c1"),
        event("token_count", info={"total_token_usage": {}, "last_token_usage": None}),
    )

    assert [m.usage and m.usage.output_tokens for m in messages(items)] == [
        None,
        5,
        None,
    ]


@pytest.mark.parametrize(
    "between",
    [
        turn(),
        event("task_started"),
        event("turn_aborted"),
        tokens(5),
        said("user", "x"),
    ],
)
def test_an_answer_ends_where_a_turn_or_its_tokens_do(between: Any) -> None:
    _, items = read(said("assistant", "One."), between, said("assistant", "Two."))

    found = [text for role, text in spoken(items) if role == "assistant"]
    assert found == ["One.", "Two."]


def test_answers_without_an_end_between_them_are_one() -> None:
    _, items = read(
        said("assistant", "One."), event("agent_message"), said("assistant", "Two.")
    )

    assert spoken(items) == [("assistant", "One.\n\nTwo.")]


def test_reasoning_that_says_nothing_is_an_event() -> None:
    _, items = read(said("user", "Hi"), thought(), thought(), event("turn_aborted"))

    assert events(items) == ["response_item/reasoning"] * 2 + ["event_msg/turn_aborted"]


def test_calls_of_all_kinds_are_linked_to_their_results() -> None:
    png = base64.b64encode(b"PNG").decode()
    tools = [{"name": "lamp"}]
    _, items = read(
        said("user", "Hi"),
        item("local_shell_call", call_id="a", action={"type": "exec"}, status="x"),
        item("tool_search_call", call_id="b", execution="client", arguments={"q": 1}),
        item(
            "function_call", call_id="c", namespace="mcp__x__", name="on", arguments=""
        ),
        item("shell_call", call_id="d", commands=["ls"]),
        output("a", {"content": "broken", "success": False}),
        item("tool_search_output", call_id="b", execution="client", tools=tools),
        output(
            "c",
            [
                {"type": "input_text", "text": "See."},
                {"type": "input_image", "image_url": f"data:image/png;base64,{png}"},
            ],
        ),
        item("shell_call_output", call_id="d", output=[{"stdout": "x"}]),
        item(
            "computer_call_output",
            call_id="e",
            output={
                "type": "computer_screenshot",
                "image_url": "https://example.org/x",
            },
        ),
    )
    _, asked, *answered = messages(items)

    assert asked.parts == (
        ToolCall("a", "local_shell", {"type": "exec"}),
        ToolCall("b", "tool_search", {"q": 1}),
        ToolCall("c", "mcp__x__on", ""),
        ToolCall("d", "shell", {"commands": ["ls"]}),
    )
    found = {"type": "tool_search_output", "execution": "client", "tools": tools}
    shell = {"type": "output", "stdout": "x"}
    assert [message.parts[0] for message in answered] == [
        ToolResult("a", (Text("broken"),), is_error=True),
        ToolResult("b", (Opaque("tool_search_output", found),)),
        ToolResult("c", (Text("See."), Image("image/png", data=b"PNG"))),
        ToolResult("d", (Opaque("output", shell),)),
        ToolResult("e", (Image("image/*", url="https://example.org/x"),)),
    ]


def test_what_the_provider_did_itself_is_kept_whole() -> None:
    jpeg = base64.b64encode(b"\xff\xd8\xff..").decode()
    search = {"type": "web_search_call", "action": {"query": "plugs"}}
    server = {"type": "tool_search_call", "execution": "server", "arguments": {}}
    found = {"type": "tool_search_output", "execution": "server", "tools": []}
    blank = {"type": "image_generation_call", "result": None}
    _, items = read(
        said("user", "Hi"),
        record("response_item", search),
        record("response_item", server),
        record("response_item", found),
        item("image_generation_call", status="completed", result=jpeg),
        record("response_item", blank),
        item("compaction", encrypted_content="x"),
        item("mcp_approval_response", approve=True),
    )
    _, answer, approval = messages(items)

    assert answer.parts == (
        Opaque("web_search_call", search),
        Opaque("tool_search_call", server),
        Opaque("tool_search_output", found),
        Image("image/jpeg", data=b"\xff\xd8\xff.."),
        Opaque("image_generation_call", blank),
        Opaque("compaction", {"type": "compaction", "encrypted_content": "x"}),
    )
    assert approval.role == "user"


def test_words_of_other_agents_are_a_user_s_by_name() -> None:
    sealed = {"author": "/root/a", "encrypted_content": "x"}
    words = [{"type": "input_text", "text": "Two."}]
    _, items = read(
        record("inter_agent_communication", {"author": "/root", "content": "One."}),
        item("agent_message", author="/root/b", recipient="/", content=words),
        record("inter_agent_communication", sealed),
    )

    assert [(m.name, m.text) for m in messages(items)] == [
        ("/root", "One."),
        ("/root/b", "Two."),
        ("/root/a", ""),
    ]
    assert messages(items)[2].parts == (Opaque("inter_agent_communication", sealed),)


def test_what_is_no_message_is_an_event() -> None:
    delivered = record("response_item", {"type": "message", "role": "assistant"})
    mark = "codex:code-mode-delivery:v1:complete"
    delivered["metadata"] = {"delivered_assistant_message": mark}
    _, items = read(
        said("user", "Hi"),
        item("ghost_snapshot"),
        item("item_reference", id="x"),
        record("world_state", {"full": True}),
        delivered,
        {"timestamp": "t"},
        [1],
    )

    assert events(items) == [
        "response_item/ghost_snapshot",
        "response_item/item_reference",
        "world_state",
        "retained_context",
        "record",
        "record",
    ]


def test_the_result_of_a_tool_that_delivers_a_message_is_a_result() -> None:
    result = output("c", "Sent.")
    result["metadata"] = {"delivered_assistant_message": "Continue?"}
    _, items = read(said("user", "Hi"), call("c", name="send_message"), result)
    answer = messages(items)[-1]

    assert answer.role == "tool"
    assert answer.parts == (ToolResult("c", (Text("Sent."),)),)


def test_a_broken_line_is_told_by_its_number_and_the_rest_is_read() -> None:
    lines = as_file(said("user", "Hi"), said("critic", "Bah"), said("assistant", "Ho"))
    transcript, items = read(lines.replace(b'"critic"', b'"crit') + b"{")
    bad = as_file(said("user", "Hi"), said("critic", "Bah"), said("assistant", "Ho"))
    other, others = read(bad)

    assert [warning.line for warning in transcript.warnings] == [2, 4]
    assert events(items) == ["unreadable", "unreadable"]
    assert spoken(items) == [("user", "Hi"), ("assistant", "Ho")]
    assert other.warnings[0].message.startswith(
        "Line 2, role: A message's role must be one"
    )
    assert events(others) == ["unreadable/response_item/message"]
    for nameless in ("function_call", "custom_tool_call"):
        transcript, items = read(said("user", "Hi"), item(nameless, call_id="c"))
        assert transcript.warnings[0].message.startswith("Line 2, name: ")
        assert events(items) == [f"unreadable/response_item/{nameless}"]


def test_a_rollout_without_a_word_is_refused() -> None:
    with pytest.raises(Invalid, match="holds no messages"):
        read(meta(base="Be a lamp."), event("task_started"))
    with pytest.raises(Invalid, match="Line 1 can't be read"):
        read(b'{"type": "session_meta", "payload": {\n')


def test_an_answer_without_an_end_is_given_in_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(codex_reading, "MAX_HELD", 3)
    _, items = read(*[said("assistant", str(n)) for n in range(10)])
    _, others = read(said("user", "Hi"), *[event("agent_message")] * 10)

    assert [text for _, text in spoken(items)] == [
        "0\n\n1\n\n2\n\n3",
        "4\n\n5\n\n6\n\n7",
        "8\n\n9",
    ]
    assert len(events(others)) == 10


def test_numbers_stay_what_they_are_however_long_and_depth_is_bounded() -> None:
    long = 123456789012345678901234567890
    deep = json.loads("[" * 250 + "]" * 250)
    _, items = read(
        meta(),
        said("user", "Go."),
        item("function_call", name="sum", call_id="c1", arguments={"of": long}),
        item("function_call", name="dig", call_id="c2", arguments=deep),
    )

    assert messages(items)[-1].parts == (ToolCall("c1", "sum", {"of": long}),)
    assert [i.type for i in items if isinstance(i, Event)].count("unreadable") == 1
