"""What conversations of agents are made of: texts, ids, names, arguments, media, blocks."""

import base64
from typing import Any

from hypothesis import strategies as st

from threads.domain.part import File, Image, Opaque, Part, Text, ToolCall

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
    "RU5ErkJggg=="
)
TEXTS = (
    "",
    " ",
    "\n",
    "yes",
    "Look there.",
    "a\0b",
    "half \ud83d",
    "café 😀 \u2028",
    "x" * 60,
)
IDS = (
    *("call_1", "call_2", "call_1|fc_1", "functions.look:0", "toolu_01", "aB3dE6gH9"),
    *("", "c" * 45, "c" * 70, "é", "a b", "\udc00"),
)
NAMES = (
    "look",
    "read_file",
    "mcp__files.read",
    "look up",
    "",
    "n" * 70,
    "9lives",
    "blick_ü",
)
ARGUMENTS: tuple[Any, ...] = (
    *(
        {},
        {"at": "the map"},
        {"a": {"b": [1, None, "x"]}},
        [1],
        "",
        "not json",
        '{"cut',
    ),
    *(None, 3, {"half": "\ud83d"}, {"\udc00": 1}, {"count": float(1 << 60)}),
)
MEDIA: tuple[Part, ...] = (
    Image("image/png", data=PICTURE),
    Image("image/png", sha256="ab" * 32),
    Image("image/gif", data=b"GIF89a" + bytes(8)),
    Image("image/tiff", data=b"II*\0"),
    Image("image/jpeg", url="https://example.org/a.jpg"),
    Image("", url="https://example.org/a"),
    Image("image/png", url="/a.png"),
    Image("image/png", data=b""),
    Image("image/png"),
    File("application/pdf", "report 1.pdf", data=b"%PDF-1.4\n"),
    File("text/plain", "notes", data="Grüße".encode()),
    File("text/plain", None, data=b"\xff\xfe"),
    File("application/zip", "a.zip", data=b"PK"),
    File("application/pdf", url="https://example.org/a.pdf"),
)
BLOCKS: tuple[Part, ...] = (
    Opaque("web_search_tool_result", {"type": "web_search_tool_result", "content": []}),
    Opaque("server_tool_use", {"type": "server_tool_use", "id": "srvtoolu_1"}),
    Opaque(
        "input_audio",
        {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
    ),
    Opaque("compaction", {"type": "compaction", "content": "Earlier."}),
    Opaque("executableCode", {"executableCode": {"code": "1", "language": "PYTHON"}}),
    Opaque("unheard_of", {"type": "unheard_of"}),
    Opaque("odd", 7),
)
SEARCH = Opaque(
    "server_tool_use",
    {
        "type": "server_tool_use",
        "id": "srvtoolu_2",
        "name": "web_search",
        "input": {"query": "key"},
    },
)
FOUND = Opaque(
    "web_search_tool_result",
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_2", "content": []},
)
TOOLS = (
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Looks.",
            "parameters": {
                "type": "object",
                "properties": {"at": {"type": "string"}},
                "additionalProperties": False,
            },
        },
    },
    {"type": "function", "function": {"name": "mcp__files.read", "description": ""}},
)
texts = st.sampled_from(TEXTS).map(Text)
media = st.sampled_from(MEDIA)
spoken = st.lists(texts | texts | media | st.sampled_from(BLOCKS), max_size=3)
calls = st.builds(
    ToolCall, st.sampled_from(IDS), st.sampled_from(NAMES), st.sampled_from(ARGUMENTS)
)
contents = st.lists(texts | media, max_size=2).map(tuple)
