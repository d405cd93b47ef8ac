"""Claude.ai's export: blocks, tools without ids, branches, projects."""

import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.folders import folder
from tests.threads.support.readings import messages
from threads.domain import formats
from threads.domain.formats.exports import claude_ai
from threads.domain.formats.io import source
from threads.domain.message import Message, Role
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Event, Parent, Relation, Transcript

NOBODY = "00000000-0000-4000-8000-000000000000"


def say(uuid: str, sender: str, *content: Any, **members: Any) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "text": "flattened",
        "content": [
            {"type": "text", "text": c} if isinstance(c, str) else c for c in content
        ],
        "sender": sender,
        "created_at": "2026-02-03T04:05:06.000000Z",
        "attachments": [],
        "files": [],
        **members,
    }


def conversation(*messages: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {
        "uuid": "c1",
        "name": "Tea",
        "summary": "",
        "account": {"uuid": "u1"},
        "chat_messages": list(messages),
        **members,
    }


def read(*conversations: Any) -> list[Transcript]:
    return readings.read(list(conversations))


def test_a_message_may_stand_before_the_one_that_it_follows() -> None:
    said = [
        say("c", "human", "Green?", parent_message_uuid="b"),
        say("b", "assistant", "Which?", parent_message_uuid="a"),
        say("a", "human", "Tea!", parent_message_uuid=NOBODY),
        say("", "human", "Alone."),
    ]

    [found, other] = read(conversation(*said, current_leaf_message_uuid="c"))

    assert [one.text for one in messages(found)] == ["Tea!", "Which?", "Green?"]
    assert [one.text for one in messages(other)] == ["Alone."]


def only(*said: dict[str, Any]) -> list[Message]:
    [transcript] = read(conversation(*said))
    return messages(transcript)


def test_messages_in_their_order_are_the_conversation() -> None:
    data = conversation(
        say("m1", "human", "Which tea?"), say("m2", "assistant", "Green."), model="m-1"
    )
    [transcript] = read(data)
    question, answer = messages(transcript)

    assert (transcript.format, transcript.title) == ("claude_ai", "Tea")
    assert (transcript.external_id, transcript.strategy) == ("c1", "anthropic")
    assert (transcript.model, transcript.parent) == ("m-1", None)
    assert (question.role, question.text, question.source_id) == (
        "user",
        "Which tea?",
        "m1",
    )
    assert (answer.role, answer.text) == (Role.ASSISTANT, "Green.")
    assert answer.created_at is not None


def test_an_answer_with_tools_is_taken_apart_at_the_results() -> None:
    said = only(
        say(
            "m1",
            "assistant",
            {"type": "thinking", "thinking": "Look.", "signature": "sealed"},
            {"type": "tool_use", "name": "search", "input": {"q": "tea"}},
            {"type": "tool_use", "name": "fetch", "input": {}},
            {"type": "tool_result", "name": "fetch", "content": [], "is_error": True},
            {"type": "tool_result", "name": "web", "content": "Found."},
            {"type": "token_budget"},
            "Green.",
            {"type": "tool_use", "id": "t9", "name": "search"},
            {
                "type": "tool_result",
                "tool_use_id": "t9",
                "name": "other",
                "content": ["a"],
            },
            {"type": "tool_result", "content": None},
            {"type": "tool_result", "tool_use_id": "lost", "content": None},
        )
    )

    assert [m.role for m in said] == ["assistant", "user", "assistant", "user"]
    assert [m.source_id for m in said] == ["m1", "m1/1", "m1/2", "m1/3"]
    assert said[0].parts == (
        Thinking("Look.", "sealed"),
        ToolCall("m1/1", "search", {"q": "tea"}),
        ToolCall("m1/2", "fetch", {}),
    )
    assert said[1].parts == (
        ToolResult("m1/2", (), "fetch", True),
        ToolResult("m1/1", (Text("Found."),), "web"),
    )
    assert said[2].parts == (Text("Green."), ToolCall("t9", "search", {}))
    assert said[3].parts == (
        ToolResult("t9", (Text("a"),), "other"),
        ToolResult("m1/4", ()),
        ToolResult("lost", ()),
    )


def test_results_hold_text_findings_and_pictures() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png"}}
    content = [
        {"type": "text", "text": "One."},
        {"type": "text", "text": ""},
        {"type": "knowledge", "title": "T", "url": "https://a.example", "text": "w"},
        {**picture, "source": {**picture["source"], "data": "aGk="}},
        {"type": "image", "file_uuid": "f1"},
        {"kind": "strange"},
    ]
    [message] = only(
        say("m1", "assistant", {"type": "tool_result", "content": content})
    )

    assert message.parts == (
        ToolResult(
            "m1/1",
            (
                Text("One."),
                Text("T\nhttps://a.example\nw"),
                Image("image/png", data=b"hi"),
                Opaque("image", {"type": "image", "file_uuid": "f1"}),
                Opaque("block", {"kind": "strange"}),
            ),
        ),
    )


def test_the_flattened_text_counts_only_where_there_are_no_blocks() -> None:
    old = {"uuid": "m1", "sender": "human", "text": "Which tea?"}

    assert [m.text for m in only(old, say("m2", "assistant", ""))] == [
        "Which tea?",
        "flattened",
    ]


def test_attachments_are_files_of_their_text() -> None:
    attached = [
        {"file_name": "a.md", "file_type": "text/markdown", "extracted_content": "# A"},
        {"file_name": "b.pdf", "file_type": "pdf", "extracted_content": "B"},
        {"file_name": "c.bin"},
    ]
    files = [{"file_name": "b.pdf"}, {"file_name": "d.png"}, {"file_uuid": "f1"}]
    [message] = only(
        say(
            "m1",
            "human",
            "Read.",
            attachments=attached,
            files=files,
            files_v2=files[:2],
        )
    )

    assert message.parts == (
        File("text/markdown", "a.md", data=b"# A"),
        File("text/plain", "b.pdf", data=b"B"),
        Opaque("attachment", {"file_name": "c.bin"}),
        Opaque("file", {"file_name": "d.png"}),
        Opaque("file", {"file_uuid": "f1"}),
        Text("Read."),
    )


def branched(**members: Any) -> dict[str, Any]:
    return conversation(
        say("q", "human", "Which tea?", parent_message_uuid=NOBODY),
        say("a", "assistant", "Black.", parent_message_uuid="q"),
        say("b", "assistant", "Green.", parent_message_uuid="q"),
        say("c", "human", text="", parent_message_uuid="q"),
        say("d", "human", "Why?", parent_message_uuid="b"),
        **members,
    )


def test_a_repeated_answer_is_a_branch() -> None:
    first, second = read(branched())

    assert [m.source_id for m in messages(first)] == ["q", "b", "d"]
    assert [m.source_id for m in messages(second)] == ["q", "a"]
    assert (second.title, second.external_id) == ("Tea (branch 1)", "c1/a")
    assert second.parent == Parent(external_id="c1", relation=Relation.BRANCH, at=1)
    [left] = [item for item in first.items if isinstance(item, Event)]
    assert left.type == "branch/human"


def test_the_leaf_that_was_looked_at_last_is_the_conversation() -> None:
    first, _ = read(branched(current_leaf_message_uuid="a", uuid=None))

    assert [m.source_id for m in messages(first)] == ["q", "a"]
    assert (first.external_id, first.parent) == (None, None)


def test_a_message_without_words_is_an_event() -> None:
    [transcript] = read(
        conversation(say("m1", "human", "Hi"), say("m2", "assistant", text=""))
    )

    assert [i.type for i in transcript.items if isinstance(i, Event)] == [
        "empty/assistant"
    ]


def test_a_conversation_is_named_by_its_first_words() -> None:
    said = say("m1", "human", "Which tea?"), say("m2", "human", "Or coffee?")
    [transcript] = formats.read(
        io.BytesIO(json.dumps(conversation(*said, name="")).encode())
    )
    [other] = read(conversation(say("m1", "assistant", "Hm."), name=None))

    assert transcript.title == "Which tea?"
    assert other.title == "Claude.ai conversation"


def test_what_holds_no_message_is_passed_over_or_refused() -> None:
    assert len(read(conversation(), 3, conversation(say("m1", "human", "Hi")))) == 1
    with pytest.raises(Invalid, match="holds no messages"):
        read(conversation())


def test_a_conversation_that_breaks_off_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = json.dumps([conversation(say("m1", "human", "Hi"))]).encode()
    with pytest.raises(Invalid):
        formats.read(io.BytesIO(data[:-20]))

    children = source.children

    def broken(file: Any, start: int = 0) -> Any:
        if start:
            raise source.truncated()
        return children(file, start)

    monkeypatch.setattr(claude_ai.source, "children", broken)
    with pytest.raises(Invalid, match="before it is complete"):
        claude_ai.EXPORT.read(io.BytesIO(data), "")


def test_a_folder_gives_conversations_and_their_projects() -> None:
    projects = [{"uuid": "p1", "name": "Brewing", "docs": []}]
    data = conversation(say("m1", "human", "Hi"), project={"uuid": "p1"})
    files = {
        "me/conversations.json": json.dumps([data]).encode(),
        "me/projects.json": json.dumps(projects).encode(),
        "me/projects/p2.json": json.dumps({"uuid": "p2"}).encode(),
        "me/users.json": b"[]",
        "me/other.json": b"[]",
    }
    [gathered] = claude_ai.EXPORT.gather(folder(files))
    [transcript] = gathered.transcripts
    project, message = transcript.items

    assert transcript.member == "me/conversations.json"
    assert gathered.members == files.keys() - {"me/other.json"}
    assert isinstance(message, Message)
    assert project == Event("project", "me/projects.json#bytes:1-46")
