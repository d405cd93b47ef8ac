"""Cline's and Roo Code's conversations: messages, what condensing hid, files beside them."""

import base64
import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.folders import folder
from tests.threads.support.readings import compactions, events, messages, parts
from threads.domain import formats
from threads.domain.formats.agents import cline
from threads.domain.message import Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Parent, Relation, Transcript

TS = 1_772_359_200_000


def read(data: Any) -> Transcript:
    [found] = cline.read(io.BytesIO(json.dumps(data).encode()), "")
    return found


def said(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    given = (
        content[0]
        if len(content) == 1 and isinstance(content[0], str)
        else list(content)
    )
    return {"role": role, "content": given, "ts": TS, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


USE = {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "plug"}}
SESSION = {
    "version": 1,
    "agent": "lead",
    "sessionId": "s-1",
    "system_prompt": "Be brief.",
    "messages": [
        said("user", text("Look."), {"type": "file", "path": "/a.txt", "content": "A"}),
        said(
            "assistant",
            text("Looking."),
            USE,
            id="m1",
            modelInfo={"id": "m-1"},
            metrics={"inputTokens": 5, "outputTokens": 3, "cacheReadTokens": 2},
        ),
        said(
            "user",
            {
                "type": "tool_result",
                "tool_use_id": "c1",
                "name": "look",
                "content": [{"query": "plug", "result": "in"}],
            },
        ),
    ],
}


def test_a_session_of_the_sdk_is_its_prompt_and_its_messages() -> None:
    found = read(SESSION)
    _, _, answer, _ = messages(found)

    assert (found.external_id, found.model, found.title) == ("s-1", "m-1", "Look.")
    assert parts(found) == [
        (Text("Be brief."),),
        (Text("Look."), File("text/plain", "/a.txt", data=b"A")),
        (Text("Looking."), ToolCall("c1", "look", {"at": "plug"})),
        (ToolResult("c1", (Text('[{"query": "plug", "result": "in"}]'),), "look"),),
    ]
    assert answer.usage == Usage(input_tokens=5, output_tokens=3, cached_tokens=2)
    assert (answer.source_id, answer.created_at is not None) == ("m1", True)
    assert events(found) == ["version", "agent", "sessionId"]
    assert messages(read({**SESSION, "system_prompt": ""}))[0].role == "user"


def test_a_history_is_a_list_of_anthropic_s_messages() -> None:
    data = base64.b64encode(b"PNG").decode()
    xml = "I look.\n<read_file><path>a</path></read_file>"
    tokens = {"tokens": {"prompt": 5, "completion": 3, "cached": 2}}
    result = {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": [text("in")],
        "is_error": True,
    }
    found = read(
        [
            said("user", "Look."),
            said("assistant", xml, modelInfo={"modelId": "m-1"}, metrics=tokens),
            said(
                "user",
                {"type": "image", "data": data, "mediaType": "image/png"},
                result,
            ),
            said("user", {"type": "tool_result", "tool_use_id": "c2", "content": 7}),
            said("assistant", {"type": "reasoning", "text": "Hm."}, USE),
            said("assistant", text("Well."), reasoning_content="So."),
            said(
                "assistant",
                {"type": "thinking", "thinking": "A."},
                reasoning_content="So.",
            ),
        ]
    )

    assert parts(found)[1:] == [
        (Text(xml),),
        (Image("image/png", data=b"PNG"), ToolResult("c1", (Text("in"),), None, True)),
        (ToolResult("c2", (Text("7"),)),),
        (Thinking("Hm."), ToolCall("c1", "look", {"at": "plug"})),
        (Thinking("So."), Text("Well.")),
        (Thinking("A."),),
    ]
    assert messages(found)[1].usage == Usage(
        input_tokens=5, output_tokens=3, cached_tokens=2
    )
    assert (found.model, found.external_id) == ("m-1", None)


def calls(*names: str) -> list[dict[str, Any]]:
    return [
        {"type": "tool_use", "id": f"c{n}", "name": name, "input": {}}
        for n, name in enumerate(names)
    ]


def answered(*texts: str, asked: tuple[str, ...]) -> list[Any]:
    """What a person's message with these texts holds behind calls of these names."""
    found = read([said("assistant", *calls(*asked)), said("user", *map(text, texts))])
    return list(parts(found)[1])


def test_a_model_s_media_are_images_and_files() -> None:
    def made(kind: str, **source: Any) -> dict[str, Any]:
        modality = kind.partition("/")[0]
        media = {"id": "1", "modality": modality, "mediaType": kind, "source": source}
        return {"type": "media", "media": {**media, "name": "a"}}

    stored = made("image/png", type="artifact", artifactId="x")
    [found] = messages(
        read(
            [
                said(
                    "assistant",
                    made("image/png", type="base64", data="UE5H"),
                    made("image/png", type="url", url="https://x/y"),
                    made("audio/wav", type="base64", data="UE5H"),
                    stored,
                    modelInfo={"modelId": "m-1"},
                )
            ]
        )
    )
    assert found.parts == (
        Image("image/png", data=b"PNG"),
        Image("image/png", url="https://x/y"),
        File("audio/wav", "a", data=b"PNG"),
        Opaque("media", stored),
    )


IMAGE = {"type": "image", "data": "UE5H", "mediaType": "image/png"}
PNG = Image("image/png", data=b"PNG")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([text("in"), IMAGE], (Text("in"), PNG)),
        (
            [{"type": "file", "path": "/a.txt", "content": "A"}],
            (File("text/plain", "/a.txt", data=b"A"),),
        ),
        (
            [{"query": "a", "result": ["Read it.", IMAGE], "success": True}],
            (Text('[{"query": "a", "result": ["Read it."], "success": true}]'), PNG),
        ),
        ([{"shot": IMAGE}], (Text('[{"shot": "[image attached]"}]'), PNG)),
        (
            [{"type": "file", "path": "/a.txt"}],
            (Text('[{"type": "file", "path": "/a.txt"}]'),),
        ),
        (
            [{"a": {**IMAGE, "data": "?"}}],
            (
                Text(
                    '[{"a": {"type": "image", "data": "?", "mediaType": "image/png"}}]'
                ),
            ),
        ),
        (["in", "out"], (Text("in"), Text("out"))),
        (None, ()),
    ],
)
def test_a_result_is_its_blocks_or_the_tool_s_json_and_its_images(
    content: Any, expected: tuple[Any, ...]
) -> None:
    result = {"type": "tool_result", "tool_use_id": "c1", "content": content}
    found = read([said("assistant", USE, modelInfo={}), said("user", result)])
    assert parts(found)[1] == (ToolResult("c1", expected),)


def test_results_that_are_text_are_linked_to_their_calls() -> None:
    second = "[read_file for 'b.ts'] Result:\nB"
    first = "[list_files for 'src' in '*'] Result:\nA"
    many = "[ask for 'One?\n\nTwo?'] Result:\nYes."
    found = answered(
        second, first, many, "Where I am.", asked=("list_files", "read_file", "ask")
    )

    assert found == [
        ToolResult("c1", (Text(second),), "read_file"),
        ToolResult("c0", (Text(first),), "list_files"),
        ToolResult("c2", (Text(many),), "ask"),
        Text("Where I am."),
    ]


def test_a_result_that_names_no_call_answers_the_first_that_is_open() -> None:
    one, two = "[read_file] Result:\nB", "[agents] Result:\nC"
    found = answered(two, one, asked=("use_agents", "read_file"))

    assert found == [
        ToolResult("c0", (Text(two),), "use_agents"),
        ToolResult("c1", (Text(one),), "read_file"),
    ]
    assert answered(two, one, asked=("read_file",))[0] == Text(two)
    assert answered("Stop.", asked=("read_file",)) == [Text("Stop.")]
    assert answered(one, asked=()) == [Text(one)]


def test_signed_reasoning_belongs_to_the_answer_behind_it() -> None:
    sealed = {"type": "reasoning", "ts": TS, "role": "assistant"}
    found = read(
        [
            {
                **sealed,
                "encrypted_content": "e",
                "summary": [{"text": "One."}, "Two.", 3],
            },
            said("assistant", "Well."),
            {**sealed, "text": "Lost."},
            said("user", "On."),
            {**sealed, "text": "Last."},
        ]
    )

    assert parts(found) == [
        (Thinking("One.\n\nTwo."), Thinking("", data="e"), Text("Well.")),
        (Thinking("Lost."),),
        (Text("On."),),
        (Thinking("Last."),),
    ]
    assert len(messages(found)[0].records) == 2


def test_what_condensing_hid_is_a_compaction_and_summaries_nest() -> None:
    found = read(
        [
            said("user", "1"),
            said("assistant", "2", condenseParent="a"),
            said("user", "3", condenseParent="a"),
            said("user", "So far.", isSummary=True, condenseId="a", condenseParent="b"),
            said("assistant", "4", condenseParent="b"),
            said("user", "All.", isSummary=True, condenseId="b"),
            said("user", "5", truncationParent="t"),
            said("user", "Hidden.", isTruncationMarker=True, truncationId="t"),
            said("user", "Nothing.", isSummary=True, condenseId="z"),
        ]
    )
    first, second, third = compactions(found)

    assert (first.replaces, first.messages[0].text) == ((1, 2), "So far.")
    assert (second.replaces, second.messages[0].text) == ((1, 2, 3), "All.")
    assert third.replaces == (4,)
    assert [message.text for message in messages(found)] == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "Nothing.",
    ]


def test_reasoning_without_an_answer_is_hidden_by_what_names_it() -> None:
    thought = {"role": "assistant", "type": "reasoning", "text": "Hm.", "ts": 1}
    found = read(
        [
            said("user", "1", condenseParent="a"),
            {**thought, "condenseParent": "a"},
            said("user", "So far.", isSummary=True, condenseId="a"),
            thought,
            said("user", "All.", isSummary=True),
        ]
    )
    first, second = compactions(found)

    assert first.replaces == (0, 1)
    assert second.replaces == (0, 1, 2)


def test_a_summary_without_a_name_stands_for_all_before_it() -> None:
    found = read(
        [said("user", "1"), said("user", "So far.", isSummary=True), said("user", "2")]
    )

    assert compactions(found)[0].replaces == (0,)


def test_what_is_no_message_is_an_event_and_a_warning() -> None:
    found = read([said("user", "1"), 7, {"role": "cat", "ts": 1}])

    assert events(found) == ["unreadable", "unreadable"]
    assert len(found.warnings) == 2
    with pytest.raises(Invalid, match="a Cline conversation"):
        read({"version": 1, "messages": []})
    with pytest.raises(Invalid, match="a Cline conversation"):
        read({"version": 1})


def test_the_files_of_a_task_come_together() -> None:
    [one] = cline.gather(
        folder(
            {
                "tasks/17/api_conversation_history.json": [said("user", "Look.")],
                "tasks/17/ui_messages.json": [],
                "tasks/17/other.txt": 1,
                "tasks/18/api_conversation_history.json": [],
                "tasks/old_api_conversation_history.json": [],
            }
        )
    )
    [found] = one.transcripts

    assert (found.external_id, found.title, events(found)) == (
        "17",
        "Look.",
        ["sidecar"],
    )
    assert found.member == "tasks/17/api_conversation_history.json"
    assert one.members == {
        "tasks/17/api_conversation_history.json",
        "tasks/17/ui_messages.json",
    }


def test_a_session_s_manifest_says_its_title_and_where_it_was_forked() -> None:
    notes = {"title": "The lamp", "fork": {"forkedFromSessionId": "s-0"}}
    manifest = {"session_id": "s-1", "messages_path": "x", "metadata": notes}
    gathered = cline.gather(
        folder(
            {
                "a.messages.json": SESSION,
                "a.json": manifest,
                "a.1.compaction.json": {},
                "b.messages.json": {"messages": [said("user", "Look.")]},
            }
        )
    )
    [first], [second] = (one.transcripts for one in gathered)

    assert first.title == "The lamp"
    assert first.parent == Parent(external_id="s-0", relation=Relation.BRANCH)
    assert events(first)[:2] == ["sidecar", "sidecar"]
    assert gathered[0].members == {"a.messages.json", "a.json", "a.1.compaction.json"}
    assert (second.external_id, second.parent) == (None, None)


def compacted(*context: Any) -> tuple[Transcript, list[str]]:
    """A session of three turns beside its context as it was compacted."""
    turns = [said("user", f"Look {n}.", id=f"m{n}") for n in range(3)]
    shorter = SESSION | {"messages": [*context]}
    [gathered] = cline.gather(
        folder(
            {
                "a.messages.json": SESSION | {"messages": turns},
                "a.compaction.json": shorter,
            }
        )
    )
    [found] = gathered.transcripts
    return found, events(found)


def test_a_compacted_context_stands_for_all_but_the_end_that_both_have() -> None:
    summary = said("user", "Looked at two.", id="x")
    found, told = compacted(summary, said("user", "Look 2.", id="m2"))

    [one] = compactions(found)
    assert one.replaces == (1, 2)
    assert [message.text for message in one.messages] == ["Looked at two."]
    assert one.record.startswith("a.compaction.json#bytes:0-")
    assert "sidecar" not in told


def test_messages_after_a_compacted_context_stay_as_they_are() -> None:
    found, _ = compacted(said("user", "Look 1, and so on.", id="m1"))

    [one] = compactions(found)
    assert one.replaces == (1, 2)
    assert [message.text for message in one.messages] == ["Look 1, and so on."]


def test_a_compacted_context_of_something_else_is_only_kept() -> None:
    found, told = compacted(said("user", "Sing.", id="y"))

    assert compactions(found) == []
    assert told[-1] == "sidecar"


def test_both_forms_are_known() -> None:
    assert formats.detect(json.dumps(SESSION).encode())[0].format == "cline"
    old = json.dumps([said("user", text("Look."))]).encode()
    assert formats.detect(old)[0].format == "cline"
