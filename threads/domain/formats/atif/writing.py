"""Writes an ATIF 1.8 trajectory: one path, one step per message, results in their calls' step.

Pictures and recordings are referred to by path, because the format has no place for bytes. The
archive holds the trajectory with the files beside it (`images/<sha256>.png`), the document holds
the same trajectory without them. Only media of types that the format names are written. What the
format has no member for goes into `extra.contextstudio` (see `steps`). Left out are opaque blocks,
other files, and the order of calls among texts.

Source: the RFC "Agent Trajectory Format" of Harbor, and the models of the package `atif`.
"""

import hashlib
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from threads.domain.body import encode_part
from threads.domain.formats.format import Heading
from threads.domain.formats.io import json_text
from threads.domain.message import Message, Role, Usage
from threads.domain.part import File, Image, Part, Text, Thinking, ToolCall, ToolResult

from .steps import OWN, ROLES

VERSION = "ATIF-v1.8"
DOCUMENT = "trajectory.json"
SOURCES = {role: source for source, role in ROLES.items()}
SOURCES |= {Role.DEVELOPER: "system", Role.TOOL: "user"}
SUFFIXES = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/gif": "gif",
    "image/webp": "webp",
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "audio/mp4": "m4a",
    "audio/aac": "aac",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
    "audio/webm": "webm",
    "audio/aiff": "aiff",
}
"""Map of each media type that the format knows to the suffix of its files."""
_THEN = (1980, 1, 1, 0, 0, 0)
"""The date of files in an archive: fixed, so that the same session gives the same bytes."""

Json = dict[str, Any]
Media = dict[str, Image | File]
"""Map of path to picture or recording."""


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """The trajectory, one step at a time."""
    return _document(messages, heading, {})


def write_archive(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """A zip archive of the trajectory and the files it refers to, in pieces as they are made."""
    sink = _Sink()
    media: Media = {}
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]  # it only writes
        about = zipfile.ZipInfo(DOCUMENT, _THEN)
        about.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(about, "w", force_zip64=True) as out:
            for piece in _document(messages, heading, media):
                out.write(piece)
                yield from sink.take()
        for path, part in media.items():
            archive.writestr(zipfile.ZipInfo(path, _THEN), heading.data(part) or b"")
            yield from sink.take()
    yield from sink.take()


class _Sink:
    """The file object that an archive is written to; the written pieces are taken from it."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def take(self) -> Iterator[bytes]:
        pieces, self._pieces = self._pieces, []
        yield from (piece for piece in pieces if piece)


def _document(
    messages: Iterable[Message], heading: Heading, media: Media
) -> Iterator[bytes]:
    head: Json = {"schema_version": VERSION}
    if heading.external_id:
        head["session_id"] = heading.external_id
    head["agent"] = {"name": OWN, "version": "1"}
    if heading.model:
        head["agent"]["model_name"] = heading.model
    if heading.title:
        head["extra"] = {"title": heading.title}
    yield json_text.dump(head)[:-1] + b', "steps": ['
    totals = {f"total_{name}": 0 for name in _metrics(Usage())} | {"total_steps": 0}
    for number, step in enumerate(_Steps(heading, media).of(messages), 1):
        mark = b",\n" if number > 1 else b"\n"
        yield mark + json_text.dump({"step_id": number, **step})
        for name, count in step.get("metrics", {}).items():
            totals[f"total_{name}"] += count
        totals["total_steps"] = number
    yield b"\n], " + json_text.dump({"final_metrics": totals})[1:] + b"\n"


def _metrics(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
    }


class _Steps:
    """Turns messages into steps; the agent's last step is held for its results."""

    def __init__(self, heading: Heading, media: Media) -> None:
        self._heading, self._media = heading, media
        self._held: Json | None = None
        self._unnamed: list[str] = []
        self._answers = 0
        self._count = 0

    def of(self, messages: Iterable[Message]) -> Iterator[Json]:
        """The steps, each without its number."""
        for message in messages:
            results = [part for part in message.parts if isinstance(part, ToolResult)]
            for result in results:
                yield from self._answer(result)
            self._answers += bool(results)
            rest = [part for part in message.parts if not isinstance(part, ToolResult)]
            if rest or not results:
                yield from self._flush()
                self._held = self._step(message, rest)
        yield from self._flush()

    def _flush(self) -> Iterator[Json]:
        if self._held is not None:
            yield self._held
        self._held, self._answers, self._unnamed = None, 0, []

    def _answer(self, result: ToolResult) -> Iterator[Json]:
        """Put a result into the step of its call, or into a step of its own if that is past."""
        held = self._held or {}
        call_id = result.call_id or (self._unnamed.pop(0) if self._unnamed else "")
        ids = {call["tool_call_id"] for call in held.get("tool_calls", ())}
        is_own = "observation" in held and not ids
        if not is_own and call_id not in ids:
            yield from self._flush()
            held = self._held = {"source": "agent", "message": ""}
            self._count += 1
        form = self._result(result, call_id)
        held.setdefault("observation", {"results": []})["results"].append(form)

    def _result(self, result: ToolResult, call_id: str) -> Json:
        said = {
            "message": self._answers or None,
            "is_error": result.is_error or None,
            "name": result.name,
            "is_result": None if call_id else True,
        }
        form: Json = {"source_call_id": call_id} if call_id else {}
        form["content"] = self._content(result.content)
        return form | _extra(said)

    def _step(self, message: Message, parts: Sequence[Part]) -> Json:
        self._count += 1
        role = message.role
        is_agent = role is Role.ASSISTANT
        thoughts = [part for part in parts if isinstance(part, Thinking)]
        form: Json = {"source": SOURCES[role], "message": self._content(parts)}
        if message.created_at:
            form["timestamp"] = message.created_at.isoformat()
        if is_agent:
            form |= self._of_agent(message, parts, thoughts)
        is_plain = [Thinking(part.text) for part in thoughts[:1]] == thoughts
        said: Json = {
            "role": str(role) if role in (Role.DEVELOPER, Role.TOOL) else None,
            "name": message.name,
            "source_id": message.source_id,
            "partial": message.partial or None,
        }
        if is_agent and not is_plain:
            said["thinking"] = [encode_part(thought) for thought in thoughts]
        return form | _extra(said)

    def _of_agent(
        self, message: Message, parts: Sequence[Part], thoughts: list[Thinking]
    ) -> Json:
        """The members that only an agent's step may have."""
        form: Json = {}
        if message.model:
            form["model_name"] = message.model
        if words := "\n\n".join(thought.text for thought in thoughts if thought.text):
            form["reasoning_content"] = words
        calls = [part for part in parts if isinstance(part, ToolCall)]
        if calls:
            form["tool_calls"] = [*map(self._call, calls, range(len(calls)))]
        if message.usage:
            form["metrics"] = _metrics(message.usage)
        return form

    def _call(self, call: ToolCall, index: int) -> Json:
        id_ = call.id
        if not id_:
            id_ = f"call_{self._count}_{index}"
            self._unnamed.append(id_)
        form: Json = {"tool_call_id": id_, "function_name": call.name}
        if isinstance(call.arguments, dict):
            return form | {"arguments": call.arguments}
        own = {OWN: {"arguments": call.arguments}}
        return form | {"arguments": {}, "extra": own}

    def _content(self, parts: Iterable[Part]) -> str | list[Json]:
        """A string if the content is one text or empty, else the format's parts."""
        found = [form for part in parts if (form := self._part(part))]
        if not found or (len(found) == 1 and found[0]["type"] == "text"):
            return found[0]["text"] if found else ""
        return found

    def _part(self, part: Part) -> Json | None:
        match part:
            case Text(text) if text:
                return {"type": "text", "text": text}
            case Image() | File() if part.media_type in SUFFIXES:
                kind, _, _ = part.media_type.partition("/")
                source = {"media_type": part.media_type, "path": self._path(part)}
                return {"type": kind, "source": source}
        return None

    def _path(self, part: Image | File) -> str:
        data = self._heading.data(part)
        if data is None:
            return self._heading.address(part)
        sha256 = part.sha256 or hashlib.sha256(data).hexdigest()
        folder = "images" if isinstance(part, Image) else "audio"
        path = f"{folder}/{sha256}.{SUFFIXES[part.media_type]}"
        self._media[path] = part
        return path


def _extra(said: Json) -> Json:
    kept = {name: value for name, value in said.items() if value is not None}
    return {"extra": {OWN: kept}} if kept else {}
