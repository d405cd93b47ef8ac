"""Formats that are recognised but not read yet, so that a refusal can say what a file is.

A format moves from here to a module of its own when its parser is written. The tests follow
what each tool writes, in the order of `docs/formats.md`, and look at the content only, never at
the file's name.
"""

from collections.abc import Callable

from .format import Format
from .sample import ZIP, Sample

Test = Callable[[Sample], object]

_PACKED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstandard",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
}


def _has(*names: str) -> Test:
    """A test for an object with all these members: the document, in a list or on a line."""
    return lambda sample: any(all(name in row for name in names) for row in sample.rows)


def _zip_with(*names: bytes) -> Test:
    """A test for a zip archive whose first bytes contain all these file names."""
    return lambda sample: (
        sample.head.startswith(ZIP) and all(name in sample.head for name in names)
    )


def _begins(*marks: bytes) -> Test:
    return lambda sample: sample.head.startswith(marks)


def _cline_asks(sample: Sample) -> bool:
    return any(
        "ts" in row and row.get("type") in ("ask", "say") for row in sample.elements
    )


def _is_batch_of_runs(sample: Sample) -> bool:
    """Whether a document lists runs to create (`post`) or to update (`patch`)."""
    listed = [sample.object.get(name) for name in ("post", "patch")]
    runs = [one for some in listed if isinstance(some, list) for one in some[:1]]
    return any(isinstance(one, dict) and "dotted_order" in one for one in runs)


def _is_page(sample: Sample) -> bool:
    return sample.text[:100].lstrip().lower().startswith(("<!doctype html", "<html"))


def _known(
    name: str, label: str, test: Test, hint: str = "", score: float = 0.9
) -> Format:
    return Format(name, label, lambda sample: score if test(sample) else 0, hint=hint)


UNPACK = "Unpack it and import the transcript inside."
FORMATS = (
    _known(
        "sqlite",
        "an SQLite database",
        _begins(b"SQLite format 3\0"),
        "Databases of Crush, Cursor, Goose, Open WebUI, opencode and Zed are read. Export the"
        " session of another program; Antigravity keeps transcripts (JSONL) beside its database.",
    ),
    _known(
        "langsmith",
        "a batch of runs, as LangSmith's SDK sends it in pieces",
        _is_batch_of_runs,
        "Export the runs from LangSmith.",
    ),
    _known("inspect", "an Inspect log (.eval)", _zip_with(b"_journal/")),
    _known("inspect", "an Inspect log (.eval)", _zip_with(b"header.json", b"samples/")),
    _known(
        "chatgpt",
        "a ChatGPT export (zip)",
        _zip_with(b"conversations.json", b"chat.html"),
    ),
    _known(
        "claude_ai",
        "a Claude.ai export (zip)",
        _zip_with(b"conversations", b"users.json"),
    ),
    Format(
        "zip",
        "a zip archive",
        lambda sample: 0.5 * sample.head.startswith(ZIP),
        hint=UNPACK,
    ),
    *(
        _known(tool, f"a file packed with {tool}", _begins(magic), UNPACK)
        for magic, tool in _PACKED.items()
    ),
    _known(
        "pdf",
        "a PDF",
        _begins(b"%PDF-"),
        "Export the conversation as JSON or Markdown where the PDF is from.",
    ),
    _known(
        "web_page",
        "a web page (HTML)",
        _is_page,
        "Export the conversation as JSON or Markdown where the page is from.",
    ),
    _known(
        "codex_history",
        "Codex's history of prompts, which holds no answers",
        _has("session_id", "ts", "text"),
        "Import the session's own file.",
    ),
    _known(
        "claude_history",
        "Claude Code's history of prompts, which holds no answers",
        _has("display", "pastedContents"),
        "Import the session's own file.",
    ),
    _known(
        "cline",
        "a list of Cline's questions and words (ui_messages)",
        _cline_asks,
        "Import the api_conversation_history.json beside it.",
    ),
    _known(
        "cline",
        "a Cline session's manifest, which holds no messages",
        _has("session_id", "messages_path"),
        "Import the .messages.json beside it.",
    ),
)
"""Formats known by name, ordered so that the first that matches a file is the right one."""
