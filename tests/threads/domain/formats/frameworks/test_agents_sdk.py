"""The state of a run of OpenAI's Agents SDK, as Python and as JavaScript spell it."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, parts, read, told
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

CALL = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "It glows."}


def item(type_: str, raw: Any, agent: str = "mender") -> dict[str, Any]:
    return {"type": type_, "raw_item": raw, "agent": {"name": agent}}


def said(words: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": words}]
    return {"type": "message", "role": "assistant", "content": content}


def state(
    items: list[Any], given: Any = "Which lamp?", **members: Any
) -> dict[str, Any]:
    return {
        "$schemaVersion": "1.6",
        "original_input": given,
        "generated_items": items,
        "model_responses": [],
        "conversation_id": "conv-1",
        **members,
    }


def test_what_was_given_and_what_was_made_are_one_conversation() -> None:
    reasoning = {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "Hm."}],
    }
    items = [
        item("reasoning_item", reasoning),
        item("tool_call_item", CALL),
        item("tool_call_output_item", OUTPUT),
        item("handoff_item", {"type": "item_reference", "id": "x"}),
        item("message_output_item", said("That one.")),
        item("message_output_item", said("I agree."), "checker"),
        item("odd", {"type": "reasoning", "summary": []}, "checker2"),
    ]

    [found] = read(state(items, session_items=[]))

    assert (found.format, found.external_id) == ("openai_agents", "conv-1")
    assert parts(found) == [
        (Text("Which lamp?"),),
        (Thinking("Hm."), ToolCall("c1", "look", {})),
        (ToolResult("c1", (Text("It glows."),)),),
        (Text("That one."),),
        (Text("I agree."),),
    ]
    assert [one.name for one in messages(found)] == [
        None,
        "mender",
        None,
        "mender",
        "checker",
    ]
    assert events(found)[:2] == ["item_reference", "reasoning"]
    assert "model_responses" not in events(found)


def test_the_given_items_come_first_and_the_sessions_own_win() -> None:
    given = [{"role": "user", "content": "Look."}, said("Dark.")]

    [found] = read(
        state([item("m", said("Old."))], given, session_items=[item("m", said("New."))])
    )

    assert told(found)[:3] == ["user: Look.", "assistant: Dark.", "assistant: New."]
    assert "generated_items" in events(found)


def test_javascript_spells_its_members_otherwise() -> None:
    thought = {
        "type": "reasoning",
        "content": [{"type": "input_text", "text": "Hm."}],
        "providerData": {"encrypted_content": "seal"},
    }
    call = {"type": "function_call", "callId": "c1", "name": "look", "arguments": "{}"}
    output = {"type": "text", "text": "It glows."}
    result = {"type": "function_call_result", "callId": "c1", "output": output}
    image = {
        "type": "function_call_result",
        "callId": "c2",
        "output": {"type": "image", "image": "x"},
    }
    raws = [thought, call, result, image, {"role": "assistant", "content": "Done."}]

    [found] = read(
        {
            "$schemaVersion": "1.0",
            "originalInput": "Look.",
            "generatedItems": [{"type": "i", "rawItem": raw} for raw in raws],
        }
    )

    assert parts(found) == [
        (Text("Look."),),
        (Thinking("Hm.", None, "seal"), ToolCall("c1", "look", {})),
        (ToolResult("c1", (Text("It glows."),)),),
        (ToolResult("c2", (Opaque("output", {"type": "output", "image": "x"}),)),),
        (Text("Done."),),
    ]


def of_javascript(*raws: dict[str, Any]) -> Any:
    items = [{"type": "i", "rawItem": raw} for raw in raws]
    [found] = read(
        {"$schemaVersion": "1.0", "originalInput": "Look.", "generatedItems": items}
    )
    assert found.warnings == []
    return found


PNG = Image("image/png", data=b"PNG")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ({"type": "image", "image": "UE5H"}, PNG),
        ({"type": "image", "image": {"data": "UE5H", "mediaType": "image/png"}}, PNG),
        (
            {"type": "image", "image": {"url": "https://x/y"}},
            Image("image/*", url="https://x/y"),
        ),
        ([{"type": "input_image", "image": "data:image/png;base64,UE5H"}], PNG),
        (
            {
                "type": "file",
                "file": {
                    "data": "UERG",
                    "mediaType": "application/pdf",
                    "filename": "a",
                },
            },
            File("application/pdf", "a", data=b"PDF"),
        ),
        (
            [{"type": "input_file", "file": "https://x/y", "filename": "a"}],
            File("application/octet-stream", "a", url="https://x/y"),
        ),
    ],
)
def test_a_result_in_javascript_holds_images_and_files(
    output: Any, expected: Any
) -> None:
    result = {"type": "function_call_result", "callId": "c1", "output": output}
    assert parts(of_javascript(result))[1] == (ToolResult("c1", (expected,)),)


def test_a_message_in_javascript_holds_images_and_files() -> None:
    kept = {"type": "input_file", "file": {"id": "file-1"}}
    content = [
        {"type": "input_text", "text": "See."},
        {"type": "input_image", "image": "UE5H"},
        {"type": "input_file", "file": "UERG", "filename": "a"},
        kept,
    ]
    found = of_javascript({"role": "user", "content": content})
    assert parts(found)[1] == (
        Text("See."),
        PNG,
        File("application/octet-stream", "a", data=b"PDF"),
        Opaque("input_file", kept),
    )


def test_a_computer_s_picture_in_javascript_answers_its_call() -> None:
    call = {"type": "computer_call", "callId": "c1", "action": {"type": "wait"}}
    shot = {"type": "computer_screenshot", "data": "data:image/png;base64,UE5H"}
    result = {"type": "computer_call_result", "callId": "c1", "output": shot}
    assert parts(of_javascript(call, result))[1:] == [
        (ToolCall("c1", "computer", {"type": "wait"}),),
        (ToolResult("c1", (PNG,)),),
    ]


def test_a_step_that_the_provider_ran_is_kept_whole_with_its_output() -> None:
    hosted = {"type": "hosted_tool_call", "name": "search", "output": "Lamps."}
    assert parts(of_javascript(hosted))[1:] == [(Opaque("hosted_tool_call", hosted),)]


def test_what_is_no_item_is_an_event_with_a_warning() -> None:
    [found] = read(state([item("m", said("Yes.")), item("m", 7)], {"odd": True}))

    assert events(found)[:2] == ["original_input", "unreadable"]
    assert len(found.warnings) == 1


def test_a_state_that_says_nothing_is_refused() -> None:
    with pytest.raises(Invalid, match="Agents SDK"):
        read(state([], ""))
