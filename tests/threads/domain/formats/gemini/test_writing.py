"""Contents written for the Gemini API, and read again."""

import io
import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.threads.support.strategies import json_values, texts, words
from threads.domain import formats
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
)


def message(role: Role, *parts: Part) -> Message:
    return Message(role=role, parts=parts)


def written(*found: Message, strategy: str = "gemini") -> Any:
    return json.loads(
        b"".join(formats.write("gemini", found, formats.Heading(strategy=strategy)))
    )


def test_a_request_is_written_as_the_api_takes_it() -> None:
    body = written(
        message(Role.SYSTEM, Text("Be brief.")),
        message(Role.DEVELOPER, Text("Be kind.")),
        message(
            Role.USER, Text("Look."), Image("image/png", data=b"PNG"), Opaque("x", {})
        ),
        message(Role.ASSISTANT, ToolCall("1", "f", {"a": 1}), ToolCall("", "g", "raw")),
        message(Role.TOOL, ToolResult("1", (Text("One."), Text("Two.")), None)),
        message(Role.TOOL, ToolResult("", (), None, True)),
        message(Role.ASSISTANT),
        message(Role.SYSTEM, Text("Later.")),
        message(Role.SYSTEM),
        message(Role.USER, File("text/plain", url="https://example.org/a.txt")),
        message(Role.ASSISTANT, ToolCall("2", "h", None)),
    )

    assert body["systemInstruction"] == {"parts": [{"text": "Be brief.\n\nBe kind."}]}
    assert [content["role"] for content in body["contents"]] == [
        "user",
        "model",
        "user",
        "user",
        "user",
        "model",
    ]
    assert body["contents"][0]["parts"] == [
        {"text": "Look."},
        {"inlineData": {"mimeType": "image/png", "data": "UE5H"}},
    ]
    assert body["contents"][1]["parts"] == [
        {"functionCall": {"id": "1", "name": "f", "args": {"a": 1}}},
        {"functionCall": {"name": "g", "args": {"input": "raw"}}},
    ]
    assert body["contents"][2]["parts"] == [
        {
            "functionResponse": {
                "id": "1",
                "name": "f",
                "response": {"output": "One.\n\nTwo."},
            }
        },
        {"functionResponse": {"name": "g", "response": {"error": ""}}},
    ]
    assert "Later." in body["contents"][3]["parts"][0]["text"]
    assert body["contents"][4]["parts"] == [
        {"fileData": {"mimeType": "text/plain", "fileUri": "https://example.org/a.txt"}}
    ]
    assert written() == {"contents": []}


def test_only_the_system_prompt_is_the_instruction() -> None:
    two = [message(Role.SYSTEM, Text(words)) for words in ("Be brief.", "So far.")]
    body = json.loads(b"".join(formats.write("gemini", two, formats.Heading(system=1))))

    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert "So far." in body["contents"][0]["parts"][0]["text"]


def test_signatures_go_out_only_where_they_are_gemini_s() -> None:
    sealed = message(
        Role.ASSISTANT,
        Thinking("Hm.", "one"),
        Thinking("", data="two"),
        ToolCall("1", "f", {}),
        Thinking("", data="three"),
        Thinking("", data="four"),
    )
    own = written(sealed)["contents"][0]["parts"]
    foreign = written(sealed, strategy="anthropic")["contents"][0]["parts"]

    assert [part.get("thoughtSignature") for part in own] == [
        "one",
        "two",
        "three",
        "four",
    ]
    assert foreign == [
        {"text": "Hm.", "thought": True},
        {"functionCall": {"id": "1", "name": "f", "args": {}}},
    ]


media_types = st.sampled_from(["image/png", "image/*"])
images = st.builds(Image, media_types, data=st.binary(max_size=9)) | st.builds(
    Image, media_types, url=words.map("https://example.org/{}".format)
)
files = st.builds(File, st.just("application/pdf"), data=st.binary(max_size=9))
some_text = texts.filter(bool)
spoken = st.builds(Text, some_text)
thoughts = st.builds(Thinking, some_text, st.none() | words) | st.builds(
    Thinking, st.just(""), data=words
)
codes = st.dictionaries(words, json_values, max_size=2).map(
    lambda code: Opaque("executableCode", {"executableCode": code})
)
calls = st.builds(
    ToolCall, words, words, st.dictionaries(words, json_values, max_size=3)
)
results = st.builds(
    ToolResult,
    words,
    st.tuples(st.lists(spoken, max_size=1), st.lists(images | files, max_size=2)).map(
        lambda found: (*found[0], *found[1])
    ),
    words,
    st.booleans(),
)


def one_of(role: Role, *kinds: st.SearchStrategy[Any]) -> st.SearchStrategy[Message]:
    found = st.lists(st.one_of(*kinds), min_size=1, max_size=4)
    return found.map(lambda parts: message(role, *parts))


conversations = st.builds(
    lambda head, rest: [*head, *rest],
    st.lists(st.builds(lambda text: message(Role.SYSTEM, text), spoken), max_size=1),
    st.lists(
        one_of(Role.USER, spoken, images, files)
        | one_of(Role.ASSISTANT, spoken, thoughts, calls, images, codes)
        | one_of(Role.TOOL, results),
        min_size=1,
        max_size=6,
    ),
)


def joined(found: Iterable[Message]) -> list[tuple[Role, tuple[Part, ...]]]:
    """Roles and parts, the results of one turn in one message."""
    kept: list[tuple[Role, tuple[Part, ...]]] = []
    for role, run in groupby(found, key=lambda m: m.role):
        if role is Role.TOOL:
            kept.append((role, tuple(part for m in run for part in m.parts)))
        else:
            kept += [(role, m.parts) for m in run]
    return kept


@settings(deadline=None)
@given(conversations)
def test_an_export_imports_as_the_same_messages(found: list[Message]) -> None:
    raw = b"".join(formats.write("gemini", found, formats.Heading(strategy="gemini")))
    [transcript] = formats.read(io.BytesIO(raw), "gemini")
    again = [replace(m, records=()) for m in transcript.items if isinstance(m, Message)]

    assert joined(again) == joined(found)
    assert again == [replace(m, records=()) for m in again]
