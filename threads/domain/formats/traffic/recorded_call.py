"""A recorded request and its response: whether a model was called, and what was said.

The form of a request is recognised by the end of its path, whatever host it went to, and by its
body: gateways and local servers use the same forms at addresses of their own. Similar forms are
translated first (`other_forms`).
"""

import zlib
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats import anthropic, gemini, openai
from threads.domain.formats.io import base64_text, fields, json_text, streams
from threads.domain.formats.kit import spoken
from threads.domain.formats.requests import read_system
from threads.domain.message import Message, Role
from threads.domain.part import JSON

from . import other_forms
from .replies import read_reply

READERS = openai.READERS | anthropic.READERS | gemini.READERS
MAX_BYTES = 64 << 20
"""The most bytes of a decompressed body."""
_ENDS = {
    "/chat/completions": "openai",
    "/messages": "anthropic",
    "/responses": "openai-responses",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}
_LISTS = {"openai-responses": "input", "gemini": "contents"}
"""Map of form to the member with a request's messages, if it isn't `messages`."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call of a model: the body of its request, and the text of its response."""

    form: str
    body: dict[str, Any]
    response: JSON
    """The text of the response, or its translated value."""
    packing: str = ""
    """The compression of the response, if it can't be decompressed here."""

    @property
    def model(self) -> str:
        """The requested model; empty if the body doesn't name it."""
        return fields.word(self.body, "model")

    def system(self) -> list[Message]:
        """The system prompt beside the messages. Raises Invalid if it is malformed."""
        if self.form == "gemini":
            given = self.body.get("systemInstruction") or self.body.get(
                "system_instruction"
            )
            return [*READERS["gemini"].read_system(given)]
        name = "instructions" if self.form == "openai-responses" else "system"
        return [*read_system(self.body.get(name))]

    def asked(self) -> list[Message]:
        """The messages that were sent. Raises Invalid at the place that is malformed."""
        given = self.body.get(_LISTS.get(self.form, "messages"))
        if isinstance(given, str):
            given = [{"role": "user", "content": given}]
        found = READERS[self.form].read_messages(given)
        return _joined(found) if self.form == "openai-responses" else found

    def answered(self, calls: str = "call_") -> list[Message]:
        """The reply, streamed or not; empty if there is none. Raises Invalid."""
        response = self.whole()
        if not isinstance(response, dict):
            return []
        return read_reply(self.form, response, calls)

    def whole(self) -> JSON:
        """The response as without streaming."""
        return streams.assemble_if_streamed(self.form, self._said())

    def _said(self) -> JSON:
        if not isinstance(self.response, str):
            return self.response
        text = self.response.strip()
        if not text.startswith(("{", "[")):
            return text
        try:
            found = json_text.parse(text.encode("utf-8", "surrogatepass"))
        except Invalid:
            return text
        return found.get("response", found) if isinstance(found, dict) else found


def _joined(messages: list[Message]) -> list[Message]:
    """The messages, with consecutive ones by the model joined into one, as in its reply."""
    found: list[Message] = []
    for message in messages:
        if found and found[-1].role is message.role is Role.ASSISTANT:
            parts = found[-1].parts + message.parts
            found[-1] = replace(found[-1], parts=parts)
        else:
            found.append(message)
    return found


def call_of(entry: JSON) -> RecordedCall | None:
    """The call of a model in an entry of a HAR; None for any other request."""
    request = fields.mapping(entry, "request")
    if fields.text(request, "method").upper() != "POST":
        return None
    body = _body(_text_of(fields.mapping(request, "postData")))
    try:
        path = urlsplit(fields.text(request, "url")).path.rstrip("/")
    except ValueError:
        return None
    answer = fields.mapping(entry, "response")
    content = fields.mapping(answer, "content")
    text = _text_of(content)
    packing = "" if text or not content.get("text") else _packing(answer)
    if body and (found := other_forms.translate_call(path, body, text)):
        return RecordedCall(*found, packing)
    form = _form_of(path, body)
    return RecordedCall(form, body, text, packing) if form else None


def _packing(answer: dict[str, Any]) -> str:
    headers = map(fields.mapping, fields.items(answer, "headers"))
    named = {fields.text(one, "name").lower(): one for one in headers}
    return fields.word(named.get("content-encoding"), "value") or "an unknown method"


def _form_of(path: str, body: dict[str, Any]) -> str:
    form = next((form for end, form in _ENDS.items() if path.endswith(end)), "")
    if not form and "anthropic_version" in body:
        form = "anthropic"
    given = body.get(_LISTS.get(form, "messages"))
    if form:
        is_asked = isinstance(given, list) or form == "openai-responses"
        return form if given and is_asked else ""
    listed = given if isinstance(given, list) else []
    said = [one for one in listed if spoken.is_said(one)]  # in the form of a provider
    is_chat = spoken.both_speak(said) or 2 * len(said) > len(listed)
    return "openai" if is_chat else ""


def _body(text: str) -> dict[str, Any]:
    """The object of a body, merged with the request in it (Gemini with a Google account)."""
    try:
        found = fields.mapping(json_text.parse(text.encode("utf-8", "surrogatepass")))
    except Invalid:
        return {}
    inner = fields.mapping(found, "request")
    return found | inner if "contents" in inner else found


def _text_of(holder: dict[str, Any]) -> str:
    """The text of a body, decoded from base64 and gzip; empty if it can't be decoded."""
    text = fields.text(holder, "text")
    encoding = fields.text(holder, "encoding", "_encoding")
    if encoding != "base64":
        return text
    data = b"".join(_decoded(text))
    if data.startswith(b"\x1f\x8b"):
        try:
            unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
            data = unpack.decompress(data, MAX_BYTES)
        except zlib.error:
            return ""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


def _decoded(text: str) -> list[bytes]:
    """The decoded pieces of base64; some recorders list the pieces of a compressed body."""
    pieces: JSON = [text]
    if text.startswith("["):
        try:
            pieces = json_text.parse(text.encode())
        except Invalid:
            return []
    found = (
        [base64_text.decode(one) for one in pieces] if isinstance(pieces, list) else []
    )
    return [one for one in found if one is not None]
