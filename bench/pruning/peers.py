"""Other tools' methods, run where they are installed: `.venv-peers` (`make peers-environment`).

They need their own versions of packages that ContextStudio uses, so they have an environment of
their own. They are given the messages in the chat API's form, and their results are put back in
place.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from bench.processes import ROOT
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Part, Text, ToolCall, ToolResult
from threads.domain.text import text_of

from .scoring import Method, Shown

PYTHON = ROOT / ".venv-peers" / "bin" / "python"
PROCESS = Path(__file__).with_name("peers_process.py")
PEERS = ("langchain", "headroom", "lcc")


class _Turn(NamedTuple):
    """A message of the chat API, and the places of the texts in it."""

    entry: dict[str, JSON]
    texts: list[tuple[int, int]]


class Peers:
    """The process in which other tools' methods run."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.seconds = 0.0
        """CPU seconds of the last run."""
        self.version = ""
        """The version of the package that ran last."""

    def method(self, name: str) -> Method:
        """The method of one of `PEERS`."""

        def run(messages: Sequence[Message]) -> Shown:
            turns = list(_turns(messages))
            contents = self._answer(name, [turn.entry for turn in turns])
            shown = [list[Part | None](message.parts) for message in messages]
            for turn, content in zip(turns, contents, strict=True):
                if content != turn.entry["content"]:
                    _say(shown, turn.texts, content)
            return [tuple(part for part in parts if part) for parts in shown]

        return run

    def measured_by_lcc(self, file: Path) -> dict[str, JSON]:
        """The result of `lcc measure-session` for a file; `cpu` is in seconds."""
        answer: dict[str, JSON] = self._ask({"session": str(file)})
        return answer

    def _ask(self, question: JSON) -> JSON:
        sent, answers = self._process.stdin, self._process.stdout
        if sent is None or answers is None:
            raise RuntimeError("the peers' process has no pipes")
        sent.write(json.dumps(question) + "\n")
        sent.flush()
        return json.loads(answers.readline())

    def _answer(self, name: str, chat: JSON) -> Sequence[str | None]:
        answer = self._ask({"method": name, "chat": chat})
        self.seconds, self.version = answer["seconds"], answer["version"]
        contents: Sequence[str | None] = answer["contents"]
        return contents


@contextmanager
def running(python: Path = PYTHON) -> Iterator[Peers | None]:
    """The peers, or None if they are not installed. They use no network."""
    if not python.exists():
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        own = {"LCC_STASH_DIR": folder, "HOME": folder, "HEADROOM_OFFLINE": "1"}
        process = subprocess.Popen(
            [python, PROCESS],
            cwd=folder,
            env=os.environ | own | {"TIKTOKEN_CACHE_DIR": _encodings()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            yield Peers(process)
        finally:
            process.terminate()
            process.wait(20)


def _encodings() -> str:
    """litellm's copy of tiktoken's encodings, so that nothing is downloaded."""
    found = find_spec("litellm")
    origin = found.origin if found else None
    folder = Path(origin or sys.prefix).parent
    return str(folder / "litellm_core_utils" / "tokenizers")


def _turns(messages: Sequence[Message]) -> Iterator[_Turn]:
    """The chat: each result on its own, consecutive assistant messages as one."""
    waiting: _Turn | None = None
    for place, message in enumerate(messages):
        if waiting and message.role is not Role.ASSISTANT:
            yield waiting
            waiting = None
        yield from _results(place, message)
        turn = _words(place, message)
        if waiting and turn:
            waiting = _joined(waiting, turn)
        elif turn and message.role is Role.ASSISTANT:
            waiting = turn
        elif turn:
            yield turn
    if waiting:
        yield waiting


def _results(place: int, message: Message) -> Iterator[_Turn]:
    for number, part in enumerate(message.parts):
        if isinstance(part, ToolResult):
            entry = {"role": "tool", "tool_call_id": part.call_id}
            yield _Turn(entry | {"content": text_of(part)}, [(place, number)])


def _words(place: int, message: Message) -> _Turn | None:
    said = [
        (number, part.text)
        for number, part in enumerate(message.parts)
        if isinstance(part, Text)
    ]
    calls = [_call(part) for part in message.parts if isinstance(part, ToolCall)]
    if not said and not calls:
        return None
    role = "user" if message.role is Role.TOOL else message.role.value
    entry: dict[str, JSON] = {"role": role}
    entry["content"] = "\n".join(text for _, text in said)
    if calls:
        entry["tool_calls"] = calls
    return _Turn(entry, [(place, number) for number, _ in said])


def _call(call: ToolCall) -> JSON:
    given = call.arguments
    given = given if isinstance(given, dict) else {"input": given}
    function = {"name": call.name, "arguments": json.dumps(given)}
    return {"id": call.id, "type": "function", "function": function}


def _joined(first: _Turn, second: _Turn) -> _Turn:
    entry = dict(first.entry)
    said = (first.entry["content"], second.entry["content"])
    entry["content"] = "\n".join(filter(None, said))
    calls = [*entry.get("tool_calls", ()), *second.entry.get("tool_calls", ())]
    if calls:
        entry["tool_calls"] = calls
    return _Turn(entry, first.texts + second.texts)


def _say(
    shown: list[list[Part | None]], texts: list[tuple[int, int]], content: str | None
) -> None:
    """Put a turn's new content in the place of its first text."""
    for nth, (place, number) in enumerate(texts):
        part = shown[place][number]
        if isinstance(part, ToolResult):
            shown[place][number] = replace(part, content=(Text(content or ""),))
        else:
            shown[place][number] = Text(content) if content and not nth else None
