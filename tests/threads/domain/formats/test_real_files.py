"""The check of real files finds a string that was lost, and only that."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bench.imports import real_file_reasons, real_files
from bench.imports.real_files import FileCheck, ListedFile, check_file

SAID = "Which of the two lamps in the hall is broken?"
LOST = "This was said too, but in a member nobody reads."
NOTED = "What the tool is for stands in an event of its own."
ID = "0123456789abcdef" * 4


def looked(folder: Path, value: Any, name: str = "chat.json") -> FileCheck:
    """What is found of a file in a repository."""
    repository = folder / "somebody" / "chats"
    repository.mkdir(parents=True)
    text = value if isinstance(value, str) else json.dumps(value)
    (repository / name).write_text(text)

    def git(*words: str) -> str:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        command = ["git", "-C", str(repository), *who, *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout

    git("init", "-q")
    git("add", name)
    git("commit", "-qm", "one")
    commit = git("rev-parse", "HEAD")[:10]
    return check_file(ListedFile("somebody/chats", name, commit), folder)


def chat(**more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": SAID, **more}], "tools": NOTED}


def test_each_string_is_in_a_message_in_an_event_or_lost(tmp_path: Path) -> None:
    found = looked(tmp_path, chat(note=LOST, short="Not looked for."))
    assert (found.format, found.sessions, found.messages) == ("openai", 1, 1)
    assert (found.leaves, found.in_messages, found.in_events) == (3, 1, 1)
    assert found.lost == [("messages[].note", LOST)]


def test_a_string_that_is_json_is_looked_for_by_what_it_says(tmp_path: Path) -> None:
    found = looked(tmp_path, chat(note=json.dumps({"said": SAID, "more": LOST})))
    assert [leaf.text for leaf in found.lost] == [LOST]


def test_what_has_a_reason_is_not_lost_but_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = {"openai": {"messages[[]].digest": "ids"}}
    monkeypatch.setattr(real_file_reasons, "REASONS", reasons)
    found = looked(tmp_path, chat(digest=ID))
    assert not found.lost
    assert found.reasons == "1 ids"


def test_lines_are_looked_for_in_what_is_no_json(tmp_path: Path) -> None:
    text = f"## User\n\n{SAID}\n\n## Assistant\n\n> {LOST}\n"
    found = looked(tmp_path, text, "chat.md")
    assert (found.leaves, found.in_messages) == (2, 2)


def test_the_page_lists_each_file_once_by_repository_path_and_commit() -> None:
    files = list(real_files.listed())
    assert len(files) == len(set(files)) >= 60
