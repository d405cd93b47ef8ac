"""OpenAI's Responses: requests, responses and lists of items, in and out."""

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.spoken import conversations
from tests.threads.support.strategies import messages as any_messages
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.formats.openai.items import CALLED as KINDS
from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Event, Transcript

ASKED = {"role": "user", "content": "Why is it dark?"}
THOUGHT = {"type": "reasoning", "summary": [], "encrypted_content": "c2VhbA=="}
CALLED = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "look",
    "arguments": '{"at": "plug"}',
}
ANSWERED = {"type": "function_call_output", "call_id": "c1", "output": "Out."}
TEXT = {"type": "output_text", "text": "Plug it in.", "annotations": []}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "content": [TEXT]}
RESPONSE = {
    "object": "response",
    "id": "resp_1",
    "model": "gpt-test",
    "created_at": 1_770_000_000,
    "output": [{"type": "reasoning", "content": [{"text": "Hm."}]}, SAID],
    "usage": {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 3,
    },
}
REQUEST = {
    "model": "gpt-asked",
    "instructions": "Be a lamp.",
    "input": [ASKED, THOUGHT, CALLED, ANSWERED],
}


def read(
    data: Any, format: str = "auto"
) -> list[tuple[Transcript, list[Message], list[Event]]]:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    found = []
    for transcript in formats.read(io.BytesIO(raw), format):
        assert transcript.format == "openai_responses"
        items = list(transcript.items)
        messages = [item for item in items if isinstance(item, Message)]
        events = [item for item in items if isinstance(item, Event)]
        found.append((transcript, messages, events))
    return found


def spoken(messages: list[Message]) -> list[tuple[str, str]]:
    return [(str(message.role), message.text) for message in messages]


def test_other_members_of_a_request_are_events_behind_its_items() -> None:
    tools = [{"type": "function", "name": "look", "parameters": {}}]
    body = {**REQUEST, "tools": tools, "temperature": 0.125, "store": None}
    log = {"request": body, "response": RESPONSE, "latency": 12.25}
    for data, more in ((body, []), (log, ["latency"])):
        [(_, messages, events)] = read(data)
        assert [one.type for one in events] == [*more, "tools", "temperature"]
        assert messages[0].text == "Be a lamp."


def test_a_request_is_its_instructions_and_its_items() -> None:
    [(transcript, messages, _)] = read(REQUEST)
    system, user, answer, result = messages

    assert (system.role, system.text) == ("system", "Be a lamp.")
    assert user.text == "Why is it dark?"
    assert answer.parts == (
        Thinking("", data="c2VhbA=="),
        ToolCall("c1", "look", {"at": "plug"}),
    )
    assert (answer.source_id, len(answer.records)) == ("fc_1", 2)
    assert result.parts == (ToolResult("c1", (Text("Out."),)),)
    assert (transcript.title, transcript.model) == ("Why is it dark?", "gpt-asked")


def test_a_response_is_one_message_with_its_tokens() -> None:
    [(transcript, [answer], _)] = read(RESPONSE)

    assert answer.parts == (Thinking("Hm."), Text("Plug it in."))
    assert (answer.source_id, answer.model) == ("resp_1", "gpt-test")
    assert answer.created_at is not None
    assert answer.usage == Usage(input_tokens=9, output_tokens=3, cached_tokens=4)
    assert transcript.model == "gpt-test"


@pytest.mark.parametrize(
    "log",
    [
        {"request": REQUEST, "response": RESPONSE},
        {"custom_id": "1", "body": REQUEST, "response": {"body": RESPONSE}},
        REQUEST | RESPONSE,
        {"messages": {}, "proxy_server_request": REQUEST, "response": RESPONSE},
        {"request": {**REQUEST, "input": [*REQUEST["input"], *RESPONSE["output"]]}}
        | {"response": RESPONSE},
    ],
)
def test_a_log_is_what_was_asked_and_the_answer_once(log: Any) -> None:
    [(transcript, messages, _)] = read(log)

    assert [str(message.role) for message in messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert transcript.model == "gpt-test"


def test_the_tokens_of_a_response_are_those_of_its_last_message() -> None:
    """A tool that the provider ran is answered within the response."""
    call = {"type": "shell_call", "call_id": "c1", "action": {"commands": ["date"]}}
    output = [{"stdout": "Monday", "stderr": "", "outcome": {"type": "exit"}}]
    given = {"type": "shell_call_output", "call_id": "c1", "output": output}
    words = [{"type": "output_text", "text": "It is Monday."}]
    answer = {"type": "message", "role": "assistant", "content": words}
    response = {
        "object": "response",
        "id": "resp_1",
        "model": "gpt-5",
        "usage": {"input_tokens": 9, "output_tokens": 3},
        "output": [{"id": "sh_1", **call}, given, answer],
    }
    [found] = formats.read(io.BytesIO(json.dumps(response).encode()), "auto", "")
    asked, result, last = (one for one in found.items if isinstance(one, Message))
    assert (asked.usage, asked.model) == (None, "gpt-5")
    assert asked.source_id != last.source_id == "resp_1"
    assert result.role is Role.TOOL
    assert last.usage == Usage(input_tokens=9, output_tokens=3)


def test_input_may_be_words_alone_and_instructions_items() -> None:
    request = {
        "input": "Hi",
        "instructions": [{"role": "developer", "content": "Be."}],
        "conversation": {"id": "conv_1"},
        "previous_response_id": "resp_0",
        "text": {},
    }
    [(transcript, messages, _)] = read({"request": request, "response": RESPONSE})

    assert spoken(messages)[:2] == [("developer", "Be."), ("user", "Hi")]
    assert transcript.external_id == "conv_1"
    assert [warning.code for warning in transcript.warnings] == ["history_missing"]


@pytest.mark.parametrize(
    "data",
    [
        [ASKED, CALLED, ANSWERED, SAID],
        {"object": "list", "data": [ASKED, CALLED, ANSWERED, SAID]},
        lines(ASKED, CALLED, ANSWERED, SAID),
    ],
)
def test_items_alone_are_a_conversation(data: Any) -> None:
    [(_, messages, _)] = read(data)

    assert [str(message.role) for message in messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


@pytest.mark.parametrize("make", [list, lambda rows: lines(*rows)])
def test_requests_in_a_list_are_a_conversation_each(make: Any) -> None:
    found = read(make([REQUEST, {"input": []}, RESPONSE, REQUEST]))

    assert [len(messages) for _, messages, _ in found] == [4, 1, 4]


def test_one_item_is_a_conversation_of_one_message() -> None:
    [(_, [only], _)] = read(SAID)

    assert only.source_id == "msg_1"


def test_what_is_no_message_or_malformed_is_an_event() -> None:
    broken = {"type": "message", "role": "lamp", "content": "x"}
    empty = {"type": "reasoning", "summary": []}
    reference = {"type": "item_reference", "id": "x"}
    items = [ASKED, reference, broken, CALLED, empty, 7]
    [(transcript, messages, events)] = read({"input": items, "object": "x"})
    [(_, _, silent)] = read({"input": [CALLED, ANSWERED, empty]})

    assert len(messages) == 2
    assert [event.type for event in events] == [
        "item_reference",
        "unreadable",
        "unreadable",
    ]
    assert [event.type for event in silent] == ["reasoning"]
    assert transcript.warnings[0].message.startswith("At input[2].role: A message's")


def test_an_element_that_is_no_json_is_an_event() -> None:
    raw = json.dumps({"input": [ASKED, CALLED, "x"]}).replace('"x"', "{x}").encode()
    [(transcript, messages, events)] = read(raw, "openai_responses")

    assert (len(messages), [event.type for event in events]) == (2, ["unreadable"])
    assert transcript.warnings[0].code == "json_invalid"


def test_a_file_without_a_message_is_refused() -> None:
    with pytest.raises(Invalid, match="holds no messages"):
        formats.read(io.BytesIO(b'{"object": "response", "output": []}'))
    with pytest.raises(Invalid, match="It ends before"):
        formats.read(io.BytesIO(b'{"object": "response", "output": [{"a": '))


def test_what_a_tool_answered_as_an_object_is_its_json() -> None:
    output = {"lakes": 9, "success": True}
    answer = {"type": "function_call_output", "call_id": "c", "output": output}
    asked = {"role": "user", "content": "How many?"}
    [(_, [_, message], _)] = read([asked, answer])

    words = json.dumps(output)
    assert message.parts == (ToolResult("c", (Text(words),)),)


def test_an_output_by_another_name_is_kept_whole() -> None:
    given = {"type": "function_call_output", "call_id": "c1", "out": "The lamp is lit."}
    for answer in (given, {**given, "status": "completed"}):
        [(_, [*_, message], _)] = read([ASKED, CALLED, answer])
        kept = Opaque("function_call_output", {"out": "The lamp is lit."})
        assert message.parts == (ToolResult("c1", (kept,)),)
    silent = {"type": "function_call_output", "call_id": "c1"}
    [(_, [*_, message], _)] = read([ASKED, CALLED, silent])
    assert message.parts == (ToolResult("c1", ()),)


def test_arguments_by_another_name_are_kept_whole() -> None:
    given = {name: CALLED[name] for name in ("type", "call_id", "name")}
    for rest, arguments in (({"args": "two lamps"}, {"args": "two lamps"}), ({}, "")):
        [(_, [*_, message], _)] = read([ASKED, {**given, "namespace": "x", **rest}])
        [call] = message.parts
        assert isinstance(call, ToolCall)
        assert (call.name, call.arguments) == ("xlook", arguments)


@pytest.mark.parametrize(
    "call",
    [
        {"type": "function_call", "name": "look", "arguments": "{}"},
        {"type": "custom_tool_call", "name": "look", "input": "at the lamp"},
    ],
    ids=["function", "custom"],
)
@pytest.mark.parametrize("space", [{}, {"namespace": "house"}], ids=["bare", "named"])
def test_a_call_is_written_with_its_namespace_apart(
    call: dict[str, Any], space: dict[str, str]
) -> None:
    call = {**call, "call_id": "call_1", **space}
    [(_, [*_, message], _)] = read([ASKED, call])
    assert [part.name for part in message.parts if isinstance(part, ToolCall)] == [
        space.get("namespace", "") + "look"
    ]
    written = formats.write("openai_responses", [message], formats.Heading())
    assert json.loads(b"".join(written))["input"] == [call]


def test_files_and_images_are_read_as_they_are_given() -> None:
    content = [
        {"type": "input_text", "text": "See."},
        {"type": "input_image", "image_url": "https://example.org/a.png"},
        {"type": "input_image", "file_id": "file_1"},
        {
            "type": "input_file",
            "filename": "a.txt",
            "file_data": "data:text/plain;base64,QQ==",
        },
        {"type": "input_file", "file_url": "https://example.org/a.pdf"},
        {"type": "input_file", "file_id": "file_2"},
    ]
    [(_, [message], _)] = read(
        [{"type": "message", "role": "user", "content": content}]
    )

    assert message.parts == (
        Text("See."),
        Image("image/*", url="https://example.org/a.png"),
        Opaque("input_image", content[2]),
        File("text/plain", "a.txt", data=b"A"),
        File("application/octet-stream", url="https://example.org/a.pdf"),
        Opaque("input_file", content[5]),
    )


@pytest.mark.parametrize(
    "other",
    [
        {"type": "function", "function": {"name": "f"}},
        {"type": "compaction", "summary": "x"},
        {"type": "message", "content": "x"},
        {"type": "shell"},
        {"input": "x", "output": "y"},
    ],
)
def test_what_only_looks_like_an_item_is_not_taken(other: Any) -> None:
    found = formats.detect(json.dumps([other]).encode())

    assert "openai_responses" not in [candidate.format for candidate in found]


# Written


def written(*found: Message, **heading: Any) -> Any:
    return json.loads(
        b"".join(formats.write("openai_responses", found, formats.Heading(**heading)))
    )


def joined(found: list[Message]) -> list[tuple[Role, Any]]:
    """Answers in a row as one: a list of items has nothing to tell them apart by."""
    messages: list[tuple[Role, Any]] = []
    for one in found:
        if messages and messages[-1][0] is one.role is Role.ASSISTANT:
            messages[-1] = (one.role, (*messages[-1][1], *one.parts))
        else:
            messages.append((one.role, one.parts))
    return messages


@settings(deadline=None)
@given(conversations.filter(bool))
def test_what_is_written_comes_back(found: list[Message]) -> None:
    raw = b"".join(formats.write("openai_responses", found))
    [transcript] = formats.read(io.BytesIO(raw), "openai_responses")

    back = [item for item in transcript.items if isinstance(item, Message)]
    assert joined(back) == joined(found)
    assert transcript.warnings == []


@settings(deadline=None)
@given(st.lists(any_messages, max_size=5), st.none() | st.integers(0, 5))
def test_whatever_is_written_answers_a_call_before_it(
    found: list[Message], first_changed: int | None
) -> None:
    calls: dict[str, str] = {}
    for item in written(*found, first_changed=first_changed)["input"]:
        type_ = item["type"]
        if type_.endswith("_output"):
            assert type_ == calls.pop(item["call_id"]).replace("_call", "") + (
                "_output" if "search" in type_ else "_call_output"
            )
        elif "call_id" in item:
            assert type_.removesuffix("_call") in KINDS
            calls[item["call_id"]] = type_
        elif type_ == "reasoning":
            assert item["encrypted_content"]


def test_a_request_has_its_model_and_its_instructions() -> None:
    system = Message(role=Role.SYSTEM, parts=(Text("Be a lamp."),))
    developer = Message(role=Role.DEVELOPER, parts=(Text("Softly."),))
    body = written(system, developer, model="gpt-test")

    assert body == {
        "model": "gpt-test",
        "instructions": "Be a lamp.",
        "input": [
            {
                "type": "message",
                "role": "developer",
                "content": [{"type": "input_text", "text": "Softly."}],
            }
        ],
    }
    assert written() == {"input": []}


def test_files_and_blocks_of_its_own_go_out_as_they_are() -> None:
    refusal = Opaque("refusal", {"type": "refusal", "refusal": "No."})
    foreign = Opaque("refusal", {"refusal": "No."})
    paper = File("application/pdf", "a.pdf", data=b"PDF")
    user = Message(
        role=Role.USER, parts=(paper, File("a/b", url="https://example.org"))
    )
    answer = Message(role=Role.ASSISTANT, parts=(refusal, foreign))
    asked, answered = written(user, answer)["input"]

    assert asked["content"] == [
        {
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": "data:application/pdf;base64,UERG",
        },
        {"type": "input_file", "file_url": "https://example.org"},
    ]
    assert answered["content"] == [
        refusal.data,
        {"type": "output_text", "text": "No."},
    ]


def test_what_people_say_among_items_is_said_whatever_it_is_called() -> None:
    call = {"type": "mcp_call", "name": "look", "arguments": "{}", "output": "Out."}
    asked = {"type": "user_message", "content": "Why is it dark?", "timestamp": 1}
    told = {"type": "assistant_message", "message": "Plug it in."}
    note = {"type": "debug_note", "text": "The lamp was asked again."}
    rows = [asked, call, told, note, {**note, "text": "And again."}, {"type": "tick"}]
    for data in (lines(*rows), rows):
        [(found, messages, events)] = read(data)
        assert spoken(messages) == [
            ("user", "Why is it dark?"),
            ("assistant", "Plug it in."),
        ]
        assert messages[0].created_at is not None
        assert messages[1].parts[0] == Opaque("mcp_call", call)
        assert [one.type for one in events] == ["debug_note", "debug_note", "tick"]
        assert [one.code for one in found.warnings] == ["unknown_item"]


def test_a_log_with_requests_of_several_apis_is_read_row_by_row() -> None:
    """As LiteLLM's: each row in the form of its API."""
    answer = {"role": "assistant", "content": "Plug it in."}
    chat = {"messages": [ASKED], "response": {"choices": [{"message": answer}]}}
    blocks = [{"type": "text", "text": "Plug it in."}]
    claude = {"messages": [ASKED], "response": answer | {"content": blocks}}
    responses = {"request": REQUEST, "response": RESPONSE}
    raw = json.dumps([chat, responses, claude, {"response": {}}]).encode()
    found = formats.read(io.BytesIO(raw))
    names = [transcript.format for transcript in found]
    assert names == ["openai", "openai_responses", "openai"]
    for transcript in found:
        *_, last = (one for one in transcript.items if isinstance(one, Message))
        assert last.text == "Plug it in."
    assert [one.code for one in found[0].warnings] == ["no_messages"]


def test_a_line_that_is_broken_is_told_beside_the_others() -> None:
    text = json.dumps(RESPONSE)
    [first, second] = formats.read(io.BytesIO(f"{text}\n{{bad\n{text}\n".encode()))
    assert len([*first.items]) == len([*second.items]) == 1
    assert "Line 2 can't be read." in first.warnings[0].message


@pytest.mark.parametrize(
    ("type_", "is_bound"),
    [
        ("shell_call", True),
        ("shell_call_output", True),
        ("apply_patch_call", True),
        ("computer_call_output", True),
        ("tool_search_call", True),
        ("function_call", False),
        ("function_call_output", False),
        ("custom_tool_call_output", False),
        ("web_search_call", False),
        ("message", False),
        ("reasoning", False),
    ],
)
def test_calls_of_the_apis_own_tools_are_bound_to_their_outputs(
    type_: str, is_bound: bool
) -> None:
    bound_call = formats.READERS["openai-responses"].bound_call
    item = {"type": type_, "call_id": "call_1"}

    assert bound_call(item) == ("call_1" if is_bound else "")
    assert bound_call({**item, "execution": "server"}) == ""
    assert formats.READERS["openai"].bound_call(item) == ""


@pytest.mark.parametrize(
    ("arguments", "is_bound"),
    [("{}", False), ("[1]", False), ('{"at": "pl', True), ('"plug"', True), ("", True)],
)
def test_a_function_s_call_is_bound_if_its_arguments_are_read_as_a_text(
    arguments: str, is_bound: bool
) -> None:
    bound_call = formats.READERS["openai-responses"].bound_call
    assert bound_call({**CALLED, "arguments": arguments}) == ("c1" if is_bound else "")
