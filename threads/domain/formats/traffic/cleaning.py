"""Cleans a recording of requests (HAR): it keeps the calls of models, and no key.

A browser's recording holds everything that the browser sent and received: passwords, cookies, keys
in headers and addresses. Only what is listed here is kept, so that no list of secrets is needed:
for a call its body and the response's, a few headers, and the address without the query; for any
other request its time and host.
"""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from threads.domain.formats.io import fields, json_file, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.part import JSON
from threads.domain.transcript import Warning

from .recorded_call import call_of

HEADERS = frozenset(
    {"content-type", "content-encoding", "date", "user-agent", "retry-after"}
    | {"anthropic-version", "anthropic-beta", "openai-version", "openai-processing-ms"}
)
"""The headers that are kept; none of them holds a key."""
COMMENT = "cleaned"
"""A single word, so that it isn't counted as a text leaf in the import report."""
_TIMES = ("startedDateTime", "time")
_OF_LOG = ("version", "creator", "browser")
_BODY = ("mimeType", "size", "text", "encoding", "_encoding")


def is_recording(sample: Sample) -> bool:
    """Whether a file is a HAR: a log with entries, or with the members that come before them."""
    log = fields.mapping(sample.object, "log")
    return isinstance(log.get("entries"), list) or {"version", "creator"} <= log.keys()


def needs_cleaning(head: bytes) -> bool:
    """Whether a file that begins with these bytes must be cleaned before it is kept."""
    return b'"log"' in head and is_recording(Sample(head[:HEAD]))


def entries(file: BinaryIO, warnings: list[Warning]) -> Iterator[Element]:
    """The requests of a recording."""
    log = json_file.members(file, 0, warnings).get("log")
    held = json_file.members(file, log.start, warnings).get("entries") if log else None
    if held is not None:
        yield from json_file.elements(file, held.start, warnings)


def clean(file: BinaryIO) -> Iterator[bytes]:
    """The recording as it is kept, one entry per line, without anything unreadable."""
    log = json_file.members(file, 0, []).get("log")
    members = json_file.members(file, log.start, []) if log else {}
    said = {name: json_file.get(file, members, name) for name in _OF_LOG}
    head = {name: _plain(value) for name, value in said.items() if value}
    kept = (_entry(one.value) for one in entries(file, []))
    yield b'{"log": '
    yield from json_text.dump_list({**head, "comment": COMMENT}, "entries", kept)
    yield b"}\n"


def _plain(value: JSON) -> JSON:
    """A text, or the name and version of a program."""
    if isinstance(value, dict):
        return {name: fields.text(value, name) for name in ("name", "version")}
    return value if isinstance(value, str) else None


def _entry(entry: JSON) -> JSON:
    request, response = (
        fields.mapping(entry, "request"),
        fields.mapping(entry, "response"),
    )
    is_call = call_of(entry) is not None
    kept = _named(fields.mapping(entry), _TIMES)
    sent = _named(request, ("method",)) | {"url": _address(request, is_call)}
    got = _named(response, ("status",))
    if is_call:
        sent["headers"] = _headers(request)
        sent["postData"] = _named(fields.mapping(request, "postData"), _BODY)
        got["headers"] = _headers(response)
        got["content"] = _named(fields.mapping(response, "content"), _BODY)
    return {**kept, "request": sent, "response": got}


def _named(value: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, JSON]:
    """The members of an object with these names that are texts or numbers."""
    return {
        name: value[name]
        for name in names
        if isinstance(value.get(name), str | int | float)
    }


def _address(request: JSON, is_call: bool) -> str:
    try:
        url = urlsplit(fields.text(request, "url"))
        host, path = url.hostname or "", url.path if is_call else "/"
    except ValueError:
        return ""
    return f"{url.scheme}://{host}{path}" if host else ""


def _headers(holder: dict[str, Any]) -> list[JSON]:
    return [
        _named(one, ("name", "value"))
        for one in map(fields.mapping, fields.items(holder, "headers"))
        if fields.text(one, "name").lower() in HEADERS
    ]
