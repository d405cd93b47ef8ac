"""ChatGPT's export: trees of messages, the files beside them."""

import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.folders import folder
from tests.threads.readings import events, messages
from threads.domain import formats
from threads.domain.formats import chatgpt, chatgpt_tree, source
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
from threads.domain.transcript import Parent, Relation, Transcript

PNG = b"\x89PNG\r\n\x1a\n"


def say(
    role: str,
    *parts: Any,
    kind: str = "text",
    author: str | None = None,
    **members: Any,
) -> dict[str, Any]:
    """A message of the export; `parts` its content, unless `content` is given."""
    content = members.pop("content", {"parts": list(parts)})
    return {
        "author": {"role": role, "name": author, "metadata": {}},
        "create_time": 1_700_000_000.5,
        "content": {"content_type": kind, **content},
        "status": "finished_successfully",
        "weight": 1.0,
        "recipient": "all",
        "metadata": {},
        **members,
    }


def tree(*nodes: tuple[str, str | None, dict[str, Any] | None]) -> dict[str, Any]:
    """A mapping of nodes, each of its id, its parent's and its message."""
    return {
        id_: {
            "id": id_,
            "parent": parent,
            "children": [],
            "message": message and {"id": id_, **message},
        }
        for id_, parent, message in nodes
    }


def line(*messages: dict[str, Any]) -> dict[str, Any]:
    """A mapping in which each message follows the one before; ids are n0, n1, …"""
    ids = [f"n{number}" for number in range(len(messages))]
    return tree(*zip(ids, [None, *ids], messages, strict=False))


def conversation(mapping: dict[str, Any], **members: Any) -> dict[str, Any]:
    leaf = list(mapping)[-1] if mapping else None
    return {
        "title": "Tea",
        "create_time": 1_700_000_000.0,
        "mapping": mapping,
        "current_node": leaf,
        "conversation_id": "c1",
        **members,
    }


def read(*conversations: Any) -> list[Transcript]:
    return formats.read(io.BytesIO(json.dumps(list(conversations)).encode()))


def only(*said: dict[str, Any], **members: Any) -> list[Message]:
    [transcript] = read(conversation(line(*said), **members))
    return messages(transcript)


HI = say("user", "Which tea?")
GREEN = say("assistant", "Green.", metadata={"model_slug": "m-1"})


def test_the_way_to_the_current_node_is_the_conversation() -> None:
    mapping = tree(
        ("root", None, None), ("s", "root", say("system", "")), ("q", "s", HI)
    ) | tree(("a", "q", GREEN))
    [transcript] = read(conversation(mapping))
    question, answer = messages(transcript)

    assert (transcript.format, transcript.title) == ("chatgpt", "Tea")
    assert (transcript.external_id, transcript.model) == ("c1", "m-1")
    assert transcript.parent is None
    assert events(transcript) == ["node", "system/text"]
    assert (question.role, question.text) == (Role.USER, "Which tea?")
    assert (answer.role, answer.model, answer.source_id) == ("assistant", "m-1", "a")
    assert answer.created_at is not None and answer.created_at.microsecond == 500_000


def test_a_regenerated_answer_is_a_branch_with_a_stable_id() -> None:
    mapping = tree(
        *(("q", None, HI), ("a", "q", say("assistant", "Black."))),
        *(("b", "q", GREEN), ("c", "b", HI), ("d", "b", say("user", "Why?"))),
    )
    first, second, third = read(conversation(mapping, current_node="c"))

    assert [m.source_id for m in messages(first)] == ["q", "b", "c"]
    assert [m.source_id for m in messages(second)] == ["q", "a"]
    assert [m.source_id for m in messages(third)] == ["q", "b", "d"]
    assert (second.title, second.external_id) == ("Tea (branch 1)", "c1/a")
    assert second.parent == Parent(external_id="c1", relation=Relation.BRANCH, at=1)
    assert third.parent == Parent(external_id="c1", relation=Relation.BRANCH, at=2)


def test_a_branch_that_says_nothing_is_left_over_as_events() -> None:
    mapping = tree(("q", None, HI), ("a", "q", GREEN), ("x", "q", say("system", "")))
    [transcript] = read(conversation(mapping, current_node="a"))

    assert events(transcript) == ["branch/system/text"]


def test_a_branch_of_what_is_left_over_hangs_on_the_one_before() -> None:
    mapping = tree(
        *(("x", None, say("system", "")), ("q", "x", HI), ("a", "x", GREEN)),
        ("e", None, say("system", "")),
    )
    first, second = read(conversation(mapping, current_node="e"))

    assert [messages(t)[0].source_id for t in (first, second)] == ["q", "a"]
    assert (first.parent, second.external_id) == (None, "c1/a")
    assert events(first)[-1] == "branch/system/text"


@pytest.mark.parametrize("leaf", [None, "gone"])
def test_without_a_current_node_the_latest_message_counts(leaf: str | None) -> None:
    late = say("assistant", "Late.", create_time=1_800_000_000)
    mapping = tree(("q", None, HI), ("a", "q", late), ("b", "q", GREEN))
    first, second = read(conversation(mapping, current_node=leaf))

    assert [messages(t)[-1].text for t in (first, second)] == ["Late.", "Green."]


def test_a_call_is_named_by_its_node_and_answered_by_its_tool() -> None:
    said = only(
        HI,
        say("assistant", kind="code", content={"text": "1 + 1"}, recipient="python"),
        say("assistant", '{"name": "x"}', recipient="canmore.create_textdoc"),
        say("tool", kind="execution_output", content={"text": "2"}, author="python"),
        say("tool", "made", author="canmore.create_textdoc"),
        say("tool", "again", author="canmore.create_textdoc"),
        say("tool", "more", author="bio"),
        GREEN,
    )

    assert said[1].parts == (ToolCall("n1", "python", "1 + 1"),)
    assert said[2].parts == (ToolCall("n2", "canmore.create_textdoc", {"name": "x"}),)
    assert said[3].parts == (ToolResult("n1", (Text("2"),), "python"),)
    assert said[4].parts == (
        ToolResult("n2", (Text("made"), Text("again")), "canmore.create_textdoc"),
    )
    assert (len(said[4].records), said[4].role, said[4].name) == (2, "tool", None)
    assert said[5].parts == (ToolResult("n6", (Text("more"),), "bio"),)


def test_a_result_of_another_name_answers_the_open_call() -> None:
    said = only(
        *(HI, say("assistant", "x", recipient="web")),
        *(say("tool", "page", author="web.run"), HI),
        say("tool", "stray", author="web"),
    )

    assert said[2].parts == (ToolResult("n1", (Text("page"),), "web.run"),)
    assert said[4].parts == (ToolResult("n4", (Text("stray"),), "web"),)


def test_a_call_that_a_user_spoke_over_is_not_answered_later() -> None:
    said = only(
        HI, say("assistant", "x", recipient="web"), HI, say("tool", "y", author="web")
    )

    assert said[-1].parts == (ToolResult("n3", (Text("y"),), "web"),)


def test_an_error_of_a_tool_is_one() -> None:
    run = {"aggregate_result": {"status": "failed_with_in_kernel_exception"}}
    error = {"name": "tool_error", "text": "No such page."}
    said = only(
        say("tool", kind="execution_output", content={"text": "Oops"}, metadata=run),
        say("tool", kind="system_error", content=error, author="browser"),
    )

    assert said[0].parts == (ToolResult("n0", (Text("Oops"),), None, True),)
    assert said[1].parts == (
        ToolResult("n1", (Text("tool_error: No such page."),), "browser", True),
    )


THOUGHTS = [
    {"summary": "Weigh", "content": "Green or black."},
    {},
    {"content": "Green."},
]
CONTENTS: list[tuple[dict[str, Any], tuple[Any, ...]]] = [
    (
        {"content_type": "thoughts", "thoughts": THOUGHTS},
        (Thinking("Weigh\n\nGreen or black."), Thinking("Green.")),
    ),
    ({"content_type": "code", "text": "x = 1"}, (Text("x = 1"),)),
    (
        {
            "content_type": "tether_quote",
            "title": "T",
            "url": "https://a.example",
            "text": "w",
        },
        (Text("T\nhttps://a.example\nw"),),
    ),
    (
        {"content_type": "tether_browsing_display", "result": "r", "summary": None},
        (Text("r"),),
    ),
    (
        {
            "content_type": "user_editable_context",
            "user_profile": "P",
            "user_instructions": "I",
        },
        (Text("P"), Text("I")),
    ),
    (
        {"content_type": "model_editable_context", "model_set_context": "M"},
        (Text("M"),),
    ),
    (
        {
            "content_type": "computer_output",
            "screenshot": {"asset_pointer": "sediment://file_1"},
        },
        (Opaque("image_asset_pointer", {"asset_pointer": "sediment://file_1"}),),
    ),
    (
        {
            "content_type": "multimodal_text",
            "parts": [
                {"content_type": "audio_transcription", "text": "Said."},
                {
                    "content_type": "image_asset_pointer",
                    "asset_pointer": "file-service://file-1",
                },
                {"text": "Plain."},
                3,
                "Written.",
            ],
        },
        (
            Text("Said."),
            Opaque(
                "image_asset_pointer",
                {
                    "content_type": "image_asset_pointer",
                    "asset_pointer": "file-service://file-1",
                },
            ),
            Text("Plain."),
            Opaque("part", 3),
            Text("Written."),
        ),
    ),
    ({"content_type": "app_pairing_content", "workspaces": [1]}, ()),
]


@pytest.mark.parametrize(("content", "parts"), CONTENTS)
def test_every_kind_of_content_is_read(
    content: dict[str, Any], parts: tuple[Any, ...]
) -> None:
    [message] = only(say("assistant", content=content))

    assert message.parts == (parts or (Opaque("app_pairing_content", content),))


def test_what_no_model_reads_is_an_event() -> None:
    recap = {"content_type": "reasoning_recap", "content": "Thought for 3s"}
    [transcript] = read(conversation(line(HI, say("assistant", content=recap))))

    assert events(transcript) == ["assistant/reasoning_recap"]


def test_settings_of_the_user_are_words_of_their_message() -> None:
    said = {"about_user_message": "I brew.", "about_model_message": "Be short."}
    [message] = only(say("user", "", metadata={"user_context_message_data": said}))

    assert message.parts == (Text("I brew."), Text("Be short."))


def test_citations_read_as_the_page_shows_them() -> None:
    mark, other = (
        "\ue200cite\ue202turn0search1\ue201",
        "\ue200cite\ue202turn0search2\ue201",
    )
    references = [
        {"matched_text": mark, "alt": "([Tea](https://tea.example))"},
        {"alt": 3},
    ]
    [message] = only(
        say(
            "assistant",
            f"Green{mark}.{other}",
            metadata={"content_references": references},
        )
    )

    assert message.text == f"Green([Tea](https://tea.example)).{other}"


def test_a_message_that_breaks_off_is_partial() -> None:
    [message] = only(say("assistant", "Gr", status="in_progress", author="helper"))

    assert (message.partial, message.name) == (True, "helper")


def test_the_export_may_be_one_object_or_hold_its_list_in_a_member() -> None:
    one = conversation(line(HI), title=None, id="c2", conversation_id=None)
    for data in (one, {"conversations": [one]}):
        [transcript] = formats.read(io.BytesIO(json.dumps(data).encode()))

        assert (transcript.external_id, transcript.title) == ("c2", "Which tea?")


def test_the_list_may_be_one_conversation_a_line() -> None:
    rows = b"\n".join(json.dumps(conversation(line(HI))).encode() for _ in range(2))

    assert len(formats.read(io.BytesIO(rows + b"\n{broken"))) == 2


def test_what_holds_no_message_is_passed_over_or_refused() -> None:
    empty = conversation({})
    silent = conversation(tree(("r", None, None)))
    [transcript] = read(3, {"title": "x"}, empty, silent, conversation(line(HI)))
    assert transcript.warnings == []

    with pytest.raises(Invalid, match="holds no messages") as refusal:
        read(empty)
    assert refusal.value.code == "no_messages"


def test_a_file_that_breaks_off_gives_what_stands_before() -> None:
    data = json.dumps([conversation(line(HI)), conversation(line(GREEN))]).encode()
    [transcript] = formats.read(io.BytesIO(data[:-40]))

    assert list(transcript.items)
    assert [warning.code for warning in transcript.warnings] == [
        "json_invalid",
        "json_truncated",
    ]
    with pytest.raises(Invalid):
        formats.read(io.BytesIO(data[:200]))


def test_a_key_that_stands_twice_is_read_as_what_it_says_last() -> None:
    node = json.dumps(line(HI)["n0"])
    last = json.dumps(line(GREEN)["n0"])
    data = f'[{{"mapping": {{"n0": {node}, "n0": {last}}}, "current_node": "n0"}}]'
    [transcript] = formats.read(io.BytesIO(data.encode()))
    assert [message.text for message in messages(transcript)] == ["Green."]

    data = f'[{{"mapping": 3, "\\u006dapping": {{"n0": {node}}}}}]'
    with pytest.raises(Invalid):
        chatgpt.read(io.BytesIO(data.encode()), "")


def test_detection_knows_a_conversation_whose_leaf_is_far_away() -> None:
    mapping = line(*[say("user", "x" * 3_000)] * 50)
    head = json.dumps([conversation(mapping)]).encode()[: 64 << 10]

    assert formats.detect(head)[0].format == "chatgpt"
    assert chatgpt._score(formats.Sample(b'[{"mapping": {}}]')) == 0


POINTER = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_a1"}
PAPER = {"id": "file-B2-x", "name": "leaf.txt", "mime_type": "text/plain"}
SHOWN = {"id": "file_a1", "name": "cup.png", "mime_type": "image/png"}


def export() -> dict[str, bytes]:
    said = say(
        "user",
        *(POINTER, "Look."),
        metadata={"attachments": [SHOWN, PAPER, {"id": "file-gone", "name": "z"}]},
    )
    return {
        "me/conversations.json": json.dumps([conversation(line(said))]).encode(),
        "me/file_a1-sanitized.png": PNG,
        "me/file-B2-x-leaf.txt": b"Tips.",
        "me/chat.html": b"<html>",
        "me/notes.txt": b"mine",
    }


def test_an_export_brings_its_images_and_files() -> None:
    [gathered] = chatgpt.gather(folder(export()))
    [transcript] = gathered.transcripts
    [message] = messages(transcript)

    assert message.parts == (
        Image("image/png", data=PNG),
        Text("Look."),
        File("text/plain", "leaf.txt", data=b"Tips."),
        Opaque("attachment", {"id": "file-gone", "name": "z"}),
    )
    assert transcript.member == "me/conversations.json"
    assert message.records[1:] == (
        "me/file_a1-sanitized.png#bytes:0-8",
        "me/file-B2-x-leaf.txt#bytes:0-5",
    )
    assert gathered.members == export().keys() - {"me/notes.txt"}


def test_a_large_export_comes_in_several_files() -> None:
    files = {
        f"conversations-00{n}.json": json.dumps(
            [conversation(line(HI), conversation_id=f"c{n}")]
        ).encode()
        for n in range(2)
    }
    [gathered] = chatgpt.gather(folder(files))

    assert [t.external_id for t in gathered.transcripts] == ["c0", "c1"]


def test_a_file_too_large_to_hold_stays_a_pointer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "MAX_PIECE", 4_000)
    monkeypatch.setattr(source, "CHUNK", 1_000)
    files = export() | {"me/file_a1-sanitized.png": PNG * 600}
    [gathered] = chatgpt.gather(folder(files))

    assert messages(gathered.transcripts[0])[0].parts[0] == Opaque(
        "image_asset_pointer", POINTER
    )


def test_other_folders_are_left_alone() -> None:
    empty = json.dumps([conversation({})]).encode()
    other = b'[{"uuid": "1", "chat_messages": []}]'

    assert chatgpt.gather(folder({"a/conversations.json": empty})) == []
    assert chatgpt.gather(folder({"conversations.json": other, "b.txt": b""})) == []


def test_an_unreadable_node_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    [transcript] = read(conversation(line(HI, GREEN)))
    monkeypatch.setattr(chatgpt_tree, "value_of", lambda *_: None)

    assert len(messages(transcript)) == 2
