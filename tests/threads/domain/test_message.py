"""The canonical form of a message, and its digest."""

import copy
import hashlib
import json
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given, settings

from tests.threads.support.strategies import messages
from threads.domain.body import (
    body_digest,
    canonical_parts,
    decode_part,
    decode_parts,
    digest,
    digest_of,
    encode_message,
    encode_part,
    encode_parts,
)
from threads.domain.message import Message, Role
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    signer_of,
)


def _stored(part: Part) -> Part:
    """The part as it is once its bytes are kept under their hash."""
    if isinstance(part, Image) and part.data is not None:
        return Image(part.media_type, sha256=hashlib.sha256(part.data).hexdigest())
    if isinstance(part, File) and part.data is not None:
        return File(part.media_type, part.name, hashlib.sha256(part.data).hexdigest())
    if isinstance(part, ToolResult):
        content = tuple(_stored(item) for item in part.content)
        return ToolResult(part.call_id, content, part.name, part.is_error)  # type: ignore[arg-type]
    return part


@settings(deadline=None)
@given(messages)
def test_parts_come_back_from_their_canonical_form(message: Message) -> None:
    parts = tuple(map(_stored, message.parts))

    assert decode_parts(encode_parts(parts)) == parts


def test_the_digest_is_that_of_canonical_json() -> None:
    parts = (Text("Hé"), ToolCall("1", "f", {"b": 1, "a": "\ud800"}))
    canonical = (
        '{"role":"assistant","parts":[{"text":"Hé","type":"text"},'
        '{"arguments":{"a":"\ud800","b":1},"id":"1","name":"f","type":"tool_call"}]}'
    )
    expected = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).digest()

    assert digest(Role.ASSISTANT, parts) == expected
    assert digest_of(Role.ASSISTANT, canonical_parts(parts)) == expected
    assert digest(Role.USER, parts) != expected


def test_how_arguments_are_written_is_kept_and_does_not_count() -> None:
    one = (ToolCall("1", "f", {"a": 1, "b": {"c": 2, "d": 3}}),)
    other = (ToolCall("1", "f", {"b": {"d": 3, "c": 2}, "a": 1}),)
    spaced = (ToolCall("1", "f", {"a": 1, "b": {"c": 2, "d": 3}}, '{"a":1, …'),)

    for parts in (one, other, spaced):
        (read,) = decode_parts(encode_parts(parts))
        assert isinstance(read, ToolCall)
        assert json.dumps(read.arguments) == json.dumps(parts[0].arguments)
        assert read.text == parts[0].text
        assert digest(Role.ASSISTANT, parts) == digest(Role.ASSISTANT, one)
    assert len({body_digest(Role.ASSISTANT, p) for p in (one, other, spaced)}) == 3
    assert body_digest(Role.ASSISTANT, one) == digest(Role.ASSISTANT, one)


@pytest.mark.parametrize(
    "arguments",
    [{"b": 1, "a": 2}, {"a": {"z": 1, "b": 2}}, {"a": [1, {"d": 1, "c": 2}]}],
)
def test_members_in_another_order_at_any_depth_are_kept_and_say_the_same(
    arguments: dict[str, Any],
) -> None:
    call = ToolCall("c", "look", arguments)
    found = encode_message(Role.ASSISTANT, (call,))
    (read,) = decode_parts(found.content)
    assert isinstance(read, ToolCall)
    assert json.dumps(read.arguments) == json.dumps(arguments)
    assert found.digest == digest(Role.ASSISTANT, [call])


@settings(deadline=None)
@given(messages)
def test_a_message_is_encoded_in_one_as_piece_by_piece(message: Message) -> None:
    parts = tuple(map(_stored, message.parts))

    content, own, said = encode_message(message.role, parts)

    assert content == encode_parts(parts)
    assert own == body_digest(message.role, parts)
    assert (said or own) == digest(message.role, parts)
    assert said != own


def test_the_text_of_a_message_is_all_it_says() -> None:
    parts = (Text("One."), Image("image/png", url="https://example.org"), Text("Two."))

    assert Message(role=Role.USER, parts=parts).text == "One.\n\nTwo."


def test_a_part_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="song"):
        decode_part({"type": "song"})


@given(messages)
def test_a_message_is_copied_and_not_changed(message: Message) -> None:
    other = copy.deepcopy(message)

    assert other == message
    assert other is not message
    with pytest.raises(FrozenInstanceError):
        other.name = "other"  # type: ignore[misc]


def test_who_signed_is_kept_and_does_not_count() -> None:
    plain, said = Thinking("Hm.", "seal"), Thinking("Hm.", "seal", signer="anthropic")

    (read,) = decode_parts(encode_parts([said]))
    assert isinstance(read, Thinking)
    assert read.signer == "anthropic"
    assert digest(Role.ASSISTANT, [said]) == digest(Role.ASSISTANT, [plain])
    assert encode_message(Role.ASSISTANT, (said,)).digest == digest(
        Role.ASSISTANT, [said]
    )


@pytest.mark.parametrize(
    ("part", "strategy", "signer"),
    [
        (Thinking("Hm.", "seal", signer="anthropic"), "gemini", "anthropic"),
        (Thinking("Hm.", "seal"), "openai", "anthropic"),
        (Thinking("Hm.", "seal"), "gemini", "gemini"),
        (Thinking("", data="hidden"), "openai", "openai"),
        (Thinking("Hm.", "seal"), "", ""),
    ],
)
def test_a_signature_is_whose_block_it_is(
    part: Thinking, strategy: str, signer: str
) -> None:
    assert signer_of(part, strategy) == signer


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        (
            ToolCall("c1", "gh_search", {}, namespace="gh_"),
            ToolCall("c1", "gh_search", {}),
        ),
        (
            File("text/plain", url="a:b", members={"context": "Old.", "citations": {}}),
            File("text/plain", url="a:b"),
        ),
    ],
    ids=["call", "file"],
)
def test_what_belongs_to_a_provider_s_form_is_kept_and_does_not_count(
    said: ToolCall | File, plain: ToolCall | File
) -> None:
    assert said == plain
    for one, other in ((said, plain), (_in_result(said), _in_result(plain))):
        (read,) = decode_parts(encode_parts([one]))
        assert encode_part(read) == encode_part(one) != encode_part(other)
        stored = encode_message(Role.USER, (one,))
        assert stored.digest == digest(Role.USER, [one]) == digest(Role.USER, [other])
        assert encode_message(Role.USER, (other,)).digest is None


def _in_result(part: ToolCall | File) -> ToolCall | ToolResult:
    return ToolResult("c1", (part,)) if isinstance(part, File) else part


def test_a_part_says_who_signed_it() -> None:
    said = encode_part(Thinking("Hm.", "seal", signer="anthropic"))
    assert said["signer"] == "anthropic"


def test_a_result_whose_block_has_an_order_of_its_own_is_read_as_it_was() -> None:
    block = Opaque("other", {"type": "other", "b": 1, "a": 2})
    parts = (ToolResult("c1", (block,)),)
    (found,) = decode_parts(encode_message(Role.TOOL, parts).content)
    assert isinstance(found, ToolResult)
    assert isinstance(found.content[0], Opaque)
    assert list(found.content[0].data) == ["type", "b", "a"]
