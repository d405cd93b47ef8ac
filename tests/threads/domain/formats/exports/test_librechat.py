"""LibreChat's conversations, in a list or as a tree."""

import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, parts, read, texts
from threads.domain.formats.exports import librechat
from threads.domain.message import Role
from threads.domain.part import Image, Opaque, Text, Thinking, ToolCall, ToolResult

ROOT = "00000000-0000-0000-0000-000000000000"


def said(id_: str, parent: str, text: str, **members: Any) -> dict[str, Any]:
    return {
        "messageId": id_,
        "parentMessageId": parent,
        "text": text,
        "isCreatedByUser": parent == ROOT,
        "createdAt": "2026-03-02T10:00:00.000Z",
        **members,
    }


def exported(**members: Any) -> dict[str, Any]:
    return {"conversationId": "l-1", "endpoint": "openAI", "title": "Lamps", **members}


def test_a_list_of_messages_has_branches() -> None:
    call = {"id": "c1", "name": "look", "args": '{"lamp": 1}', "output": "It glows."}
    old = {
        "id": "c2",
        "function": {"name": "see", "arguments": "{}", "output": "Dark."},
    }
    content = [
        {"type": "think", "think": "Hm."},
        {"type": "think", "think": ""},
        {"type": "text", "text": {"value": "So:"}},
        {"type": "text", "text": ""},
        {"type": "tool_call", "tool_call": call},
        {"type": "tool_call", "tool_call": old},
        {"type": "error", "error": "Stopped."},
        {"type": "image_file", "image_file": {"file_id": "f"}},
        "odd",
    ]
    files = [{"type": "image/png", "filepath": "/images/1.png"}, {"type": "text/csv"}]
    data = exported(
        options={"model": "m-1", "promptPrefix": "You mend lamps."},
        messages=[
            said("1", ROOT, "Which lamp?", files=files),
            said("2", "1", "", content=content, model="m-2", unfinished=True),
            said("3", "1", "This one."),
        ],
    )

    main, branch = read(data)

    assert (main.format, main.title, main.external_id) == ("librechat", "Lamps", "l-1")
    assert texts(main) == ["You mend lamps.", "Which lamp?", "This one."]
    assert messages(main)[0].role is Role.SYSTEM
    assert parts(branch)[1:] == [
        (
            Image("image/png", url="/images/1.png"),
            Opaque("file", {"type": "text/csv"}),
            Text("Which lamp?"),
        ),
        (Thinking("Hm."), Text("So:"), ToolCall("c1", "look", {"lamp": 1})),
        (ToolResult("c1", (Text("It glows."),), "look"),),
        (ToolCall("c2", "see", {}),),
        (ToolResult("c2", (Text("Dark."),), "see"),),
        (Text("Stopped."), Opaque("image_file", content[7])),
    ]
    answer = messages(branch)[2]
    assert (answer.model, answer.source_id, answer.partial) == ("m-2", "2", True)
    assert events(main) == ["endpoint", "options"]


def test_a_tree_holds_messages_below_their_parents() -> None:
    below = said(
        "2", "1", "Dark.", children=[{"text": "Thanks.", "isCreatedByUser": True}]
    )
    data = exported(messagesTree=[said("1", ROOT, "Look.", children=[below])])

    [found] = read(data)

    assert texts(found) == ["Look.", "Dark.", "Thanks."]


def test_a_conversation_that_says_nothing_is_refused() -> None:
    with pytest.raises(Invalid, match="a LibreChat conversation"):
        read(exported(messages=[said("1", ROOT, "")]))
    with pytest.raises(Invalid, match="a LibreChat conversation"):
        read(exported(), "librechat")


def test_a_message_that_can_not_be_read_is_passed_over_with_a_warning() -> None:
    data = exported(messages=[said("1", ROOT, "Hi"), said("2", "1", "Yes", more=[[]])])
    file = io.BytesIO(json.dumps(data).encode())
    [transcript] = librechat.FORMAT.read(file, "")
    # Meanwhile the file has changed.
    file.seek(0)
    file.write(json.dumps(data).replace("[[]]", "[[}]").encode())
    warnings = transcript.items.warnings
    assert texts(transcript) == ["Hi"]
    assert len(warnings) == 1
