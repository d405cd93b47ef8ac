"""A written session is one that Claude Code reads, and that reads as it was."""

import io
import json
import re
import uuid
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.threads.support.strategies import json_values, moments, texts, words
from threads.domain import formats
from threads.domain.formats.claude_code import writing as claude_writing
from threads.domain.formats.format import Heading
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

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ASKED = Message(
    role=Role.USER, parts=(Text("Look."),), created_at=datetime(2026, 3, 1, tzinfo=UTC)
)
CALLED = Message(
    role=Role.ASSISTANT,
    parts=(
        Thinking("Hm.", "sealed"),
        Thinking("", data="hidden"),
        Text("I look."),
        ToolCall("c1", "look", {"at": "plug"}),
    ),
    model="claude-test",
    source_id="msg_source",
    usage=Usage(input_tokens=9, output_tokens=2, cached_tokens=4),
)
ANSWERED = Message(role=Role.TOOL, parts=(ToolResult("c1", (Text("Plugged in."),)),))
DONE = Message(role=Role.ASSISTANT, parts=(Text("It is."),))
THREAD = (ASKED, CALLED, ANSWERED, DONE)


def written(*messages: Message, **heading: Any) -> list[dict[str, Any]]:
    raw = b"".join(claude_writing.write(messages, Heading(**heading)))
    return [json.loads(line) for line in raw.splitlines()]


def blocks(records: list[dict[str, Any]]) -> list[str]:
    return [
        content if isinstance(content, str) else "+".join(b["type"] for b in content)
        for record in records
        if (content := record["message"]["content"])
    ]


def read(raw: bytes) -> list[Message]:
    [transcript] = formats.read(io.BytesIO(raw), "claude_code")
    return [item for item in transcript.items if isinstance(item, Message)]


def test_each_line_has_what_the_tool_s_reader_asks_for() -> None:
    export_id = uuid.uuid4()
    records = written(*THREAD, export_id=export_id, title="A lamp")
    *chain, title = records

    parent = None
    for record in chain:
        assert record["parentUuid"] == parent
        assert UUID.fullmatch(record["uuid"])
        parent = record["uuid"]
        assert (record["isSidechain"], record["userType"]) == (False, "external")
        assert record["sessionId"] == str(export_id)
        assert record["cwd"] and record["version"]
        assert record["gitBranch"] == ""
        assert re.fullmatch(
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record["timestamp"]
        )
        assert record["type"] == record["message"]["role"]
    assert len({record["uuid"] for record in chain}) == len(chain)
    assert title == {
        "type": "custom-title",
        "customTitle": "A lamp",
        "sessionId": str(export_id),
    }


def test_an_answer_is_written_a_block_a_line_with_one_id() -> None:
    records = written(*THREAD)
    answer = [record["message"] for record in records[1:5]]

    assert blocks(records) == [
        "Look.",
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
        "tool_result",
        "text",
    ]
    [id_] = {message["id"] for message in answer}
    assert re.fullmatch(r"msg_[0-9a-f]{32}", id_)
    assert id_ != records[6]["message"]["id"]
    assert all(message["stop_reason"] == "tool_use" for message in answer)
    assert records[6]["message"]["stop_reason"] == "end_turn"
    assert answer[0]["usage"] == {
        "input_tokens": 5,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 4,
        "output_tokens": 2,
    }
    assert answer[0]["content"][0]["signature"] == "sealed"
    assert (answer[0]["model"], records[6]["message"]["model"]) == (
        "claude-test",
        "unknown",
    )


def test_ids_are_new_with_every_export_and_the_same_within_one() -> None:
    one, other = uuid.uuid4(), uuid.uuid4()
    heading = Heading(export_id=one)

    assert written(ASKED, export_id=one) == written(ASKED, export_id=one)
    assert (
        written(ASKED, export_id=one)[0]["uuid"]
        != written(ASKED, export_id=other)[0]["uuid"]
    )
    assert "source" not in json.dumps(written(*THREAD, external_id="source"))
    assert claude_writing.WRITER.file_name is not None
    assert claude_writing.WRITER.file_name(heading) == f"{one}.jsonl"


def test_signatures_and_counts_end_where_the_thread_was_changed() -> None:
    whole = written(*THREAD, first_changed=2)
    changed = written(*THREAD, first_changed=1)

    assert blocks(whole)[1] == "thinking"
    assert blocks(changed) == ["Look.", "text", "tool_use", "tool_result", "text"]
    assert set(changed[1]["message"]["usage"].values()) == {0}


def test_reasoning_without_a_signature_is_left_out_and_what_is_blank() -> None:
    unsealed = Message(role=Role.ASSISTANT, parts=(Thinking("Hm."),))
    blank = Message(role=Role.USER, parts=(Text(" "), Opaque("refusal", {})))

    [title] = written(unsealed, blank)
    assert (title["type"], title["customTitle"]) == ("custom-title", "Conversation")


def test_a_system_prompt_is_left_out_and_other_words_of_the_system_s_are_framed() -> (
    None
):
    prompt = Message(role=Role.SYSTEM, parts=(Text("Be brief."),))
    later = Message(role=Role.DEVELOPER, parts=(Text("In short."),))

    assert blocks(written(prompt, later, ASKED)) == ["Look."]
    framed, *_ = written(prompt, later, ASKED, system=1)
    assert framed["isMeta"] is True
    assert (
        framed["message"]["content"] == "<system_message>\nIn short.\n</system_message>"
    )
    assert "isMeta" not in written(ASKED)[0]
    assert blocks(written(ASKED, prompt))[1].startswith("<system_message>")


def test_calls_without_ids_are_given_some() -> None:
    call = Message(role=Role.ASSISTANT, parts=(ToolCall("", "f", {}),))
    answer = Message(role=Role.TOOL, parts=(ToolResult("", (Text("ok"),)),))
    first, second = written(call, answer)

    id_ = first["message"]["content"][0]["id"]
    assert id_ and second["message"]["content"][0]["tool_use_id"] == id_


def test_a_result_has_content_even_where_it_is_empty() -> None:
    empty = Message(role=Role.TOOL, parts=(ToolResult("c1", ()),))
    [record] = written(empty)

    assert record["message"]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": ""}
    ]


# There and back


types = st.sampled_from(["image/png", "image/jpeg"])
images = st.builds(Image, types, data=st.binary(max_size=20))
files = st.builds(
    File,
    st.just("application/pdf"),
    st.none() | words,
    data=st.binary(max_size=20),
)
spoken = texts.filter(str.strip).map(Text)
objects = st.dictionaries(texts, json_values, max_size=3)
results = st.builds(
    ToolResult,
    words,
    st.lists(spoken | images, max_size=3).map(tuple),
    st.none(),
    st.booleans(),
)
sealed = st.builds(Thinking, texts, words) | st.builds(
    Thinking, st.just(""), data=words
)


def spoken_by(role: Role, parts: st.SearchStrategy[Part]) -> st.SearchStrategy[Message]:
    return st.builds(
        Message,
        role=st.just(role),
        parts=st.lists(parts, min_size=1, max_size=4).map(tuple),
        created_at=st.none() | moments,
    )


conversations = st.lists(
    spoken_by(Role.USER, spoken | images | files)
    | spoken_by(Role.USER, results)
    | spoken_by(
        Role.ASSISTANT, spoken | sealed | st.builds(ToolCall, words, words, objects)
    ),
    min_size=1,
    max_size=8,
)


@given(conversations)
def test_a_written_session_reads_as_it_was(messages: list[Message]) -> None:
    raw = b"".join(formats.write("claude_code", messages))
    found = read(raw)

    assert [(m.role, m.parts) for m in found] == [(m.role, m.parts) for m in messages]
    again = b"".join(formats.write("claude_code", found))
    assert [(m.role, m.parts) for m in read(again)] == [
        (m.role, m.parts) for m in messages
    ]
