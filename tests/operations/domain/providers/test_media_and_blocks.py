"""Rules R14 and R15 of docs/providers.md: images, files and blocks go out whole, or as words."""

import base64
from typing import Any

import pytest

from operations.domain.providers import PROVIDERS, compile_request
from operations.domain.providers.bedrock import EMPTY
from operations.domain.providers.passes.media import LEAD, MAX_LENGTH
from operations.domain.providers.request import Compiled, Severity
from threads.domain.formats.format import Heading
from threads.domain.part import File, Image, Opaque, Text, Thinking, ToolResult

from .drafts import PDF, PNG, blocks, call, draft, issue, result, rules, spoken

ENCODED = base64.b64encode(PNG).decode()
WITH_IMAGES = (
    "openai",
    "openai-responses",
    "anthropic",
    "gemini",
    "mistral",
    "bedrock",
)
WITH_FILES = ("openai", "openai-responses", "anthropic", "gemini", "bedrock")


def missing(_sha256: str) -> bytes:
    raise FileNotFoundError


def sent(compiled: Compiled) -> str:
    return str(compiled.request)


@pytest.mark.parametrize("provider", WITH_IMAGES)
def test_an_image_is_sent_as_what_its_bytes_are(provider: str) -> None:
    compiled = compile_request(
        provider,
        draft(
            ("user", Image("image/jpg", sha256="0"), "see"),
            heading=Heading(blob=lambda _: PNG),
        ),
    )
    assert ENCODED in sent(compiled)
    assert "jpg" not in sent(compiled)
    assert "R15" not in rules(compiled)


@pytest.mark.parametrize("context", ["Of 2025.", "Of \ud800."])
def test_anthropic_s_documents_keep_their_context_and_whether_they_are_cited(
    context: str,
) -> None:
    members = {"context": context, "citations": {"enabled": True}}
    pdf = File("application/pdf", "Tides", data=PDF, members=members)
    (document,) = blocks(compile_request("anthropic", draft(("user", pdf))))
    data = base64.b64encode(PDF).decode()
    assert document == {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": data},
        "title": "Tides",
        "context": context.replace("\ud800", "\ufffd"),
        "citations": {"enabled": True},
    }


@pytest.mark.parametrize("provider", WITH_FILES)
def test_a_file_is_sent(provider: str) -> None:
    pdf = File("application/x-pdf", "a.pdf", data=PDF)
    compiled = compile_request(provider, draft(("user", pdf), ("user", pdf)))
    assert sent(compiled).count(base64.b64encode(PDF).decode()) == 2
    assert "R15" not in rules(compiled)
    if provider == "bedrock":
        found = [
            block["document"]["name"]
            for block in blocks(compiled)
            if "document" in block
        ]
        assert found == [f"document {number}" for number in (1, 2)]
        assert any("text" in block for block in blocks(compiled))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "part",
    [
        Image("image/png", sha256="0"),
        Image("image/png", data=b""),
        Image("image/tiff", data=b"II*\0"),
        Image("image/png", url="/api/blobs/0"),
        File("application/zip", "a.zip", data=b"PK"),
        File("application/pdf", sha256="0"),
    ],
)
def test_what_cannot_be_sent_is_described(provider: str, part: Image | File) -> None:
    compiled = compile_request(
        provider, draft(("user", "see", part), heading=Heading(blob=missing))
    )
    assert "it is not sent.]" in sent(compiled)
    found = issue(compiled, "R15")
    assert (found.severity, found.keys) == (Severity.REPAIRED, ("m0",))


@pytest.mark.parametrize("provider", ["deepseek", "generic-strict"])
def test_hosts_without_images_get_words(provider: str) -> None:
    compiled = compile_request(
        provider, draft(("user", "see", Image("image/png", data=PNG)))
    )
    [(_, words)] = spoken(compiled)
    assert words == "see\n\n[An image (image/png) stands here; it is not sent.]"


def test_a_text_file_is_sent_in_words_where_files_have_no_place() -> None:
    part = File("text/x-python", "a.py", data=b"print(1)\xff")
    [(_, words)] = spoken(compile_request("openai", draft(("user", part))))
    assert words == "<file a.py>\nprint(1)�\n</file>"
    compiled = compile_request("anthropic", draft(("user", part)))
    assert compiled.messages[0]["content"][0]["type"] == "document"


@pytest.mark.parametrize(
    ("provider", "part", "is_sent"),
    [
        ("openai", Image("image/png", url="https://a.example/b.png"), True),
        ("generic-strict", Image("image/png", url="https://a.example/b.png"), False),
        (
            "anthropic",
            File("application/pdf", "b", url="https://a.example/b.pdf"),
            True,
        ),
        ("anthropic", File("text/plain", "b", url="https://a.example/b.txt"), False),
    ],
)
def test_an_address_is_sent_where_the_provider_fetches_it(
    provider: str, part: Image | File, is_sent: bool
) -> None:
    compiled = compile_request(provider, draft(("user", part)))
    assert "https://a.example/b" in sent(compiled)
    assert ("R15" not in rules(compiled)) is is_sent


def test_a_files_name_is_made_up_where_one_is_asked_for() -> None:
    for provider in ("openai", "openai-responses"):
        compiled = compile_request(
            provider, draft(("user", File("application/pdf", data=PDF)))
        )
        assert "'filename': 'document.pdf'" in sent(compiled)


def test_a_text_file_without_text_is_described() -> None:
    compiled = compile_request(
        "anthropic", draft(("user", File("text/plain", data=b" \n")))
    )
    assert issue(compiled, "R15").keys == ("m0",)


def test_an_error_holds_only_text_at_anthropic() -> None:
    picture, block = (
        Image("image/png", data=PNG),
        Opaque("document", {"type": "document"}),
    )
    failed = result("a", "no", picture, block, is_error=True)
    rows = ("user", "a"), ("assistant", call("a")), ("tool", failed)
    compiled = compile_request("anthropic", draft(*rows, strategy="anthropic"))
    answer, *rest = compiled.messages[2]["content"]
    assert [item["type"] for item in answer["content"]] == ["text", "text"]
    assert [block["type"] for block in rest] == ["text", "image"]
    compiled = compile_request("openai-responses", draft(*rows))
    assert compiled.messages[2]["output"][1]["type"] == "input_image"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_systems_images_are_described_or_a_users(provider: str) -> None:
    rows = (
        ("user", "a"),
        ("system", Image("image/png", data=PNG), "b"),
        ("assistant", "c"),
    )
    compiled = compile_request(provider, draft(*rows))
    is_system = provider in ("openai", "openai-responses")
    if provider in WITH_IMAGES:
        assert (ENCODED in sent(compiled)) is not is_system


def test_an_assistants_image_is_described_but_for_gemini() -> None:
    picture = Image("image/png", data=PNG)
    rows = ("user", "draw"), ("assistant", picture), ("user", "nice")
    for provider in PROVIDERS:
        compiled = compile_request(provider, draft(*rows))
        assert (ENCODED in sent(compiled)) is (provider == "gemini")


@pytest.mark.parametrize("provider", WITH_IMAGES)
def test_an_image_in_a_result_is_sent_where_it_may_stand(provider: str) -> None:
    webp = b"RIFF0000WEBPrest"
    rows = (
        ("user", "look"),
        ("assistant", call("abcdefghi"), call("abcdefghj")),
        (
            "tool",
            result("abcdefghi", "there:", Image("image/*", data=webp)),
            result("abcdefghj"),
        ),
    )
    compiled = compile_request(provider, draft(*rows))
    assert base64.b64encode(webp).decode() in sent(compiled)
    stays = provider in ("anthropic", "openai-responses")
    assert (LEAD in sent(compiled)) is not stays
    if not stays:
        assert issue(compiled, "R15").keys == ("m2",)


# Typed blocks


SEARCH = {
    "type": "server_tool_use",
    "id": "srvtoolu_1",
    "name": "web_search",
    "input": {},
}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def opaque(data: dict[str, Any]) -> Opaque:
    return Opaque(data["type"], data)


def test_what_the_provider_ran_itself_is_replayed_whole() -> None:
    rows = (
        ("user", "a"),
        ("assistant", opaque(SEARCH), opaque(FOUND), "b"),
        ("user", "c"),
    )
    compiled = compile_request("anthropic", draft(*rows, strategy="anthropic"))
    assert compiled.messages[1]["content"][:2] == [SEARCH, FOUND]
    assert compiled.issues == ()


@pytest.mark.parametrize(
    "halves",
    [
        (SEARCH,),
        (FOUND,),
        (FOUND, SEARCH),
        (SEARCH, SEARCH, FOUND),
        (SEARCH | {"id": "toolu_1"}, FOUND),
        (SEARCH | {"input": None}, FOUND),
    ],
)
def test_a_half_of_it_is_described(halves: tuple[dict[str, Any], ...]) -> None:
    rows = ("user", "a"), ("assistant", *map(opaque, halves)), ("user", "c")
    compiled = compile_request("anthropic", draft(*rows, strategy="anthropic"))
    assert "[A block of the type " in sent(compiled)
    assert {found.keys for found in compiled.issues} == {("m1",)}
    assert rules(compiled) == {"R15"}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_blocks_of_others_are_described(provider: str) -> None:
    data = {"type": "strange", "words": "x" * 999, "list": [1, {"thinking": "secret"}]}
    rows = (
        ("user", opaque(data)),
        ("assistant", opaque({"type": "thinking_2", "t": "secret"}), "b"),
    )
    compiled = compile_request(provider, draft(*rows, strategy="other"))
    assert "[A block of the type strange stands here: " in sent(compiled)
    assert "secret" not in sent(compiled)
    assert "x" * 401 not in sent(compiled)
    assert issue(compiled, "R15").keys == ("m0", "m1")


def test_a_description_has_an_end() -> None:
    rows = (("user", Opaque("strange", [str(n) * 9 for n in range(9_999)])),)
    [(_, words)] = spoken(compile_request("openai", draft(*rows)))
    assert len(words) < MAX_LENGTH + 100


def test_a_refusal_is_sent_as_it_is_or_in_its_words() -> None:
    block = {"type": "refusal", "refusal": "I won't."}
    rows = ("user", "a"), ("assistant", opaque(block)), ("user", "c")
    assert spoken(compile_request("openai", draft(*rows)))[1] == ("assistant", [block])
    compiled = compile_request("anthropic", draft(*rows))
    assert spoken(compiled)[1] == ("assistant", "I won't.")


def test_a_hosted_item_goes_out_without_its_id() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    rows = ("user", "a"), ("assistant", opaque(item), "b")
    compiled = compile_request("openai-responses", draft(*rows))
    assert compiled.messages[1] == {"type": "web_search_call", "status": "completed"}


@pytest.mark.parametrize(
    ("provider", "role", "data", "is_sent"),
    [
        ("openai", "user", {"type": "file", "file": {"file_id": "file-1"}}, True),
        ("openai", "user", {"type": "file", "file": {"file_data": "?"}}, False),
        (
            "openai",
            "user",
            {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
            True,
        ),
        (
            "openai",
            "user",
            {"type": "input_audio", "input_audio": {"data": "UklG", "format": "odd"}},
            False,
        ),
        ("openai-responses", "user", {"type": "input_file", "file_id": "file-1"}, True),
        (
            "openai-responses",
            "assistant",
            {"type": "compaction", "encrypted_content": ""},
            False,
        ),
        (
            "anthropic",
            "user",
            {"type": "image", "source": {"type": "file", "file_id": "f"}},
            True,
        ),
        (
            "anthropic",
            "user",
            {"type": "document", "source": {"type": "base64", "data": "?"}},
            False,
        ),
        ("anthropic", "user", {"type": "container_upload", "file_id": "f"}, True),
        (
            "gemini",
            "assistant",
            {"executableCode": {"code": "1", "language": "PYTHON"}},
            True,
        ),
    ],
)
def test_a_block_goes_back_to_its_provider_where_it_is_sound(
    provider: str, role: str, data: dict[str, Any], is_sent: bool
) -> None:
    part = Opaque(data.get("type", next(iter(data))), data)
    strategy = provider.partition("-")[0]
    rows = ("user", "a"), (role, part), ("assistant", "b")
    compiled = compile_request(provider, draft(*rows, strategy=strategy))
    assert (str(data) in sent(compiled)) is is_sent
    assert ("R15" not in rules(compiled)) is is_sent


def test_a_block_that_is_no_object_is_described() -> None:
    compiled = compile_request(
        "gemini", draft(("assistant", Opaque("executableCode", 7)), strategy="gemini")
    )
    assert "stands here: 7]" in sent(compiled)


# Bedrock


def test_tools_that_are_called_are_defined_for_bedrock() -> None:
    rows = (
        ("user", "a"),
        ("assistant", call("a", "one"), "text", call("b", "two")),
        ("tool", result("a", " "), result("b", "B", is_error=True)),
    )
    tools = [{"type": "function", "function": {"name": "one", "description": "1"}}]
    compiled = compile_request("bedrock", draft(*rows, tools=tools))
    defined = compiled.request["toolConfig"]["tools"]
    assert [tool["toolSpec"]["name"] for tool in defined] == ["one", "two"]
    kinds = [next(iter(block)) for block in blocks(compiled)]
    assert kinds == ["text", "text", "toolUse", "toolUse", "toolResult", "toolResult"]
    results = [
        block["toolResult"] for block in blocks(compiled) if "toolResult" in block
    ]
    assert results[0]["content"] == [{"text": EMPTY}]
    assert results[1]["status"] == "error"
    assert [found.keys for found in compiled.issues if found.rule == "R14"] == [
        ("m1",),
        ("m1",),
    ]


def test_parts_that_no_role_may_say_find_their_speaker() -> None:
    context = draft(
        ("user", "a", call("a"), Thinking("x"), Text(" ")),
        ("tool", "loose", result("a")),
    )
    compiled = compile_request("openai", context)
    roles = [role for role, _ in spoken(compiled)]
    assert roles == ["user", "assistant", "tool", "user"]


def test_a_result_may_be_empty() -> None:
    rows = (
        ("user", "a"),
        ("assistant", call("a")),
        ("tool", ToolResult("a", (Text(""),))),
    )
    compiled = compile_request("openai", draft(*rows))
    assert spoken(compiled)[2] == ("tool", "")
