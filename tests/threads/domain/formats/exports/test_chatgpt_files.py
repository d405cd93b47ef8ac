"""ChatGPT's export as files: its lists, what breaks off, images and files beside it."""

import io
import json

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.folders import folder
from tests.threads.support.readings import messages
from threads.domain import formats
from threads.domain.formats.exports import chatgpt
from threads.domain.formats.io import json_file, source
from threads.domain.part import File, Image, Opaque, Text

from .chatgpt_exports import GREEN, HI, PNG, conversation, line, read, say, tree


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
        chatgpt.EXPORT.read(io.BytesIO(data.encode()), "")


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
    [gathered] = chatgpt.EXPORT.gather(folder(export()))
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
    [gathered] = chatgpt.EXPORT.gather(folder(files))

    assert [t.external_id for t in gathered.transcripts] == ["c0", "c1"]


def test_a_file_too_large_to_hold_stays_a_pointer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "MAX_PIECE", 4_000)
    monkeypatch.setattr(source, "CHUNK", 1_000)
    files = export() | {"me/file_a1-sanitized.png": PNG * 600}
    [gathered] = chatgpt.EXPORT.gather(folder(files))

    assert messages(gathered.transcripts[0])[0].parts[0] == Opaque(
        "image_asset_pointer", POINTER
    )


def test_other_folders_are_left_alone() -> None:
    empty = json.dumps([conversation({})]).encode()
    other = b'[{"uuid": "1", "chat_messages": []}]'

    assert chatgpt.EXPORT.gather(folder({"a/conversations.json": empty})) == []
    assert (
        chatgpt.EXPORT.gather(folder({"conversations.json": other, "b.txt": b""})) == []
    )


def test_an_unreadable_node_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    [transcript] = read(conversation(line(HI, GREEN)))
    monkeypatch.setattr(json_file, "known_value", lambda *_: None)

    assert len(messages(transcript)) == 2
