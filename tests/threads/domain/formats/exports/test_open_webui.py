"""Open WebUI's chats: a history of messages that name their parents, answers with details."""

import html
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.databases import database, logged
from tests.threads.support.folders import folder
from tests.threads.support.readings import events, messages, parts, read, texts
from threads.domain.formats.exports import open_webui_database
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
from threads.domain.transcript import Parent, Relation


def said(
    id_: str, parent: str | None, role: str, content: Any, **members: Any
) -> dict[str, Any]:
    return {
        "id": id_,
        "parentId": parent,
        "role": role,
        "content": content,
        "timestamp": 1772445600,
        **members,
    }


def chat(*given: dict[str, Any], current: str = "", **members: Any) -> dict[str, Any]:
    history = {
        "messages": {one["id"]: one for one in given},
        "currentId": current or given[-1]["id"],
    }
    inner = {"title": "Lamps", "models": ["m-1"], "history": history, **members}
    return {"id": "w-1", "user_id": "u", "title": "Lamps", "chat": inner}


def quoted(value: Any) -> str:
    return html.escape(json.dumps(value))


def test_regenerated_answers_are_branches() -> None:
    data = chat(
        said("1", None, "user", "Which lamp?"),
        said(
            "2", "1", "assistant", "That one.", model="m-2", usage={"prompt_tokens": 5}
        ),
        said(
            "3",
            "1",
            "assistant",
            "This one.",
            info={"eval_count": 2, "prompt_eval_count": 3},
        ),
        current="2",
        params={"system": "You mend lamps."},
        files=[],
    )

    main, branch = read([data])

    assert (main.format, main.title, main.external_id) == ("open_webui", "Lamps", "w-1")
    assert main.model == "m-1"
    assert texts(main) == ["You mend lamps.", "Which lamp?", "That one."]
    assert texts(branch) == ["You mend lamps.", "Which lamp?", "This one."]
    assert branch.parent == Parent(external_id="w-1", relation=Relation.BRANCH, at=2)
    assert messages(main)[0].role is Role.SYSTEM
    assert messages(main)[2].usage == Usage(input_tokens=5)
    assert messages(branch)[2].usage == Usage(input_tokens=3, output_tokens=2)
    assert events(main) == ["params", "files"]


def test_details_are_reasoning_calls_and_results() -> None:
    words = (
        '<details type="reasoning" done="true" duration="2">\n'
        "<summary>Thought for 2 seconds</summary>\n> I &amp; you\n> look.\n</details>\n"
        "So:\n"
        f'<details type="tool_calls" done="true" id="c1" name="look"'
        f' arguments="{quoted(json.dumps({"lamp": 1}))}" result="{quoted("It glows.")}">\n'
        "<summary>Tool Executed</summary>\n</details>\n"
        '<details type="tool_calls" done="true" id="c2" name="see"'
        f' arguments="" result="{quoted({"lamps": 1})}">\n</details>\n'
        '<details type="tool_calls" done="false" id="c3" name="" arguments="x">\n</details>\n'
        "That one.\n"
        '<details type="reasoning" done="false">\nNever closed'
    )

    [found] = read(
        [chat(said("1", None, "user", words), said("2", "1", "assistant", words))]
    )

    assert texts(found)[0] == words
    assert parts(found)[1:] == [
        (Thinking("I & you\nlook."), Text("So:"), ToolCall("c1", "look", {"lamp": 1})),
        (ToolResult("c1", (Text("It glows."),), "look"),),
        (ToolCall("c2", "see", {}),),
        (ToolResult("c2", (Text('{"lamps": 1}'),), "see"),),
        (
            ToolCall("c3", "tool", "x", "x"),
            Text('That one.\n<details type="reasoning" done="false">\nNever closed'),
        ),
    ]
    assert messages(found)[2].source_id == "2/1"


def test_details_that_reasoning_speaks_of_are_its_words() -> None:
    words = 'Use <details type="reasoning"> here.'
    said_ = f'<details type="reasoning">\n{words}\n</details>\nDone.'

    [found] = read(
        [chat(said("1", None, "user", "Hi"), said("2", "1", "assistant", said_))]
    )

    assert parts(found)[1] == (Thinking(words), Text("Done."))


def test_files_are_attached_to_their_message() -> None:
    note = {"type": "file", "name": "a.txt", "file": {"data": {"content": "Note."}}}
    files = [
        {"type": "image", "url": "data:image/png;base64,UE5H"},
        {"type": "image", "url": "https://lamps.test/1.png"},
        note,
        {"type": "collection", "id": "k"},
    ]

    [found] = read([chat(said("1", None, "user", "", files=files))])

    assert parts(found) == [
        (
            Image("image/png", data=b"PNG"),
            Image("image/*", url="https://lamps.test/1.png"),
            File("text/plain", "a.txt", data=b"Note."),
            Opaque("file", {"type": "collection", "id": "k"}),
        )
    ]


def test_without_a_history_the_list_is_the_chat() -> None:
    given = [
        said("1", None, "user", "Look."),
        {"role": "assistant", "content": ["a"]},
        7,
    ]
    data = {"user_id": "u", "chat": {"messages": given}}

    [found] = read(data)

    assert (found.title, found.external_id) == ("Look.", None)
    assert texts(found) == ["Look.", '["a"]']


def test_a_chat_alone_is_read_and_an_unknown_speaker_is_an_event() -> None:
    alone = chat(said("1", None, "robot", "Beep."), said("2", "1", "user", "Hi."))[
        "chat"
    ]

    [found] = read(alone)

    assert texts(found) == ["Hi."]
    assert events(found) == ["empty"]


def test_an_answer_that_says_nothing_is_no_branch() -> None:
    data = chat(
        said("1", None, "user", "Look."),
        said("2", "1", "assistant", ""),
        said("3", "1", "assistant", "Dark."),
    )

    [found] = read([data])

    assert (texts(found), events(found)) == (["Look.", "Dark."], ["branch/message"])


def test_a_chat_that_says_nothing_is_refused() -> None:
    with pytest.raises(Invalid, match="an Open WebUI chat"):
        read({"chat": {"title": "x"}, "user_id": "u"}, "open_webui")


TABLE = """
CREATE TABLE "chat" (
    id VARCHAR(255) NOT NULL, user_id VARCHAR(255), title TEXT, share_id VARCHAR(255),
    archived INTEGER, created_at DATETIME, chat JSON
);
"""


def in_database(*chats: Any) -> bytes:
    rows = [
        (
            f"w-{n}",
            "u",
            "Lamps",
            None,
            0,
            n,
            one if isinstance(one, str) else json.dumps(one),
        )
        for n, one in enumerate(chats, 1)
    ]
    return database(TABLE, {"chat": rows})


def test_the_database_holds_chats_as_its_export_does() -> None:
    first = chat(
        said("1", None, "user", "Which lamp?"),
        said("2", "1", "assistant", "That one."),
        said("3", "1", "assistant", "This one."),
        current="2",
        params={"system": "You mend lamps."},
    )["chat"]
    second = chat(said("1", None, "user", "Which room?"))["chat"]

    main, branch, other = read(in_database(first, {"messages": []}, "{", second))

    assert (main.format, main.title, main.external_id) == ("open_webui", "Lamps", "w-1")
    assert texts(main) == ["You mend lamps.", "Which lamp?", "That one."]
    assert texts(branch) == ["You mend lamps.", "Which lamp?", "This one."]
    assert branch.parent == Parent(external_id="w-1", relation=Relation.BRANCH, at=2)
    assert texts(other) == ["Which room?"]
    assert {one.records for one in messages(main)} == {("row:chat/1",)}
    assert messages(other)[0].records == ("row:chat/4",)


def test_a_database_without_a_message_is_refused() -> None:
    with pytest.raises(Invalid, match="holds no messages"):
        read(in_database({"messages": []}))


def test_a_folder_may_hold_the_database_with_its_log() -> None:
    inner = chat(said("1", None, "user", "Which lamp?"))["chat"]
    row = ("w-1", "u", "Lamps", None, 0, 1, json.dumps(inner))
    held = logged(TABLE, "chat", [row])
    files = {f"webui.db{end}": data for end, data in held.items()}
    [found] = open_webui_database.FORMAT.gather(folder(files))  # type: ignore[misc]
    assert texts(found.transcripts[0]) == ["Which lamp?"]
