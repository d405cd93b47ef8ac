"""Gemini's generateContent.

Sources: ai.google.dev/api/generate-content, ai.google.dev/gemini-api/docs/thought-signatures.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from threads.domain.formats.gemini.writing import OWN_PARTS, STRATEGIES, write_content
from threads.domain.message import Message, Role

from .passes import findings
from .passes.media import LEAD
from .passes.work import Work
from .request import Written
from .rules import IDS, PDF, Alphabet, Reasoning, Rules
from .tools import definitions
from .turns import Turn, with_one_text

Content = dict[str, Any]
UNCHECKED = "skip_thought_signature_validator"
"""The value documented for calls that another model made."""
_MEDIA = frozenset(
    {"audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg"}
    | {"audio/flac", "video/mp4", "video/mpeg", "video/webm", "text/plain"}
)
RULES = Rules(
    strategies=STRATEGIES,
    ids=Alphabet(legal=IDS.legal, longest=64),
    names=Alphabet(legal=re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]*"), longest=64),
    merges=True,
    calls_apart=True,
    reasoning=Reasoning.KEPT,
    encoded_signatures=frozenset({"signature", "data"}),
    images=frozenset({"image/png", "image/jpeg", "image/webp"}),
    image_urls=True,
    files=PDF | _MEDIA,
    file_urls=PDF | _MEDIA,
    assistant_media=True,
    opaque={Role.ASSISTANT: OWN_PARTS},
)


def write_gemini(turns: list[Turn], work: Work, prompt: str) -> Written:
    """The body of `POST /v1beta/models/{model}:generateContent`, which names no model."""
    contents: list[Content] = []
    heading = replace(work.draft.heading, strategy="gemini")
    names: dict[str, str] = {}
    active = _active(turns)
    for place, turn in enumerate(turns):
        turn.pieces = [with_one_text(piece) for piece in turn.pieces]
        message = Message(role=turn.role, parts=turn.parts)
        content = write_content(message, heading, names)
        if place > active and turn.role is Role.ASSISTANT:
            _sign(content, turn, work)
        contents.append(content)
    system = {"parts": [{"text": prompt}]} if prompt else None
    request: Content = {"systemInstruction": system} if system else {}
    request["contents"] = contents
    if tools := definitions(work):
        forms = [tool.form(parametersJsonSchema=tool.schema) for tool in tools]
        request["tools"] = [{"functionDeclarations": forms}]
    return Written(request, contents, system, [turn.pieces for turn in turns])


def _active(turns: Sequence[Turn]) -> int:
    """The place of the user turn that began the turn in progress.

    A turn that only holds what was taken out of results doesn't begin one.
    """
    return max(
        place
        for place, turn in enumerate(turns)
        if turn.role is Role.USER and (place == 0 or turn.texts() != [LEAD])
    )


def _sign(content: Content, turn: Turn, work: Work) -> None:
    """Give the first call of an answer the signature that the provider requires there (R12)."""
    calls = [part for part in content["parts"] if "functionCall" in part]
    if calls and "thoughtSignature" not in calls[0]:
        calls[0]["thoughtSignature"] = UNCHECKED
        work.report(findings.UNSIGNED_CALL, turn.pieces[0])
