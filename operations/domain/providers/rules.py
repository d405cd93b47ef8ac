"""What a provider accepts, as far as the passes need to know."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from threads.domain.message import Role

PICTURES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""The image types accepted by every provider that accepts images."""
PDF = frozenset({"application/pdf"})


class Reasoning(StrEnum):
    """Which kind of reasoning a request may hold."""

    NONE = "none"
    WORDS = "words"
    """Its text, without a signature."""
    SIGNED = "signed"
    """With a signature that holds only while nothing before it is changed."""
    ITEMS = "items"
    """The same, each in an item of its own that must be followed by another."""
    KEPT = "kept"
    """With a signature that holds while the message itself is unchanged."""

    @property
    def is_bound(self) -> bool:
        """Whether a signature covers everything before it."""
        return self in (Reasoning.SIGNED, Reasoning.ITEMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alphabet:
    """The allowed characters and lengths of an id or a name; `legal` matches the whole text."""

    legal: re.Pattern[str]
    longest: int
    shortest: int = 1

    def allows(self, text: str) -> bool:
        """Whether a text is allowed."""
        is_long_enough = self.shortest <= len(text) <= self.longest
        return is_long_enough and self.legal.fullmatch(text) is not None


IDS = Alphabet(legal=re.compile(r"[a-zA-Z0-9_-]+"), longest=40)
NAMES = Alphabet(legal=re.compile(r"[a-zA-Z0-9_-]+"), longest=64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A provider's rules; anything not stated is forbidden."""

    strategies: frozenset[str] = frozenset()
    """The parsing strategies of messages that this provider's own models wrote."""
    ids: Alphabet = IDS
    names: Alphabet = NAMES
    system_anywhere: bool = False
    alternates: bool = True
    """Whether speakers must alternate, with a user first and a user or a tool last."""
    merges: bool = False
    """Whether the provider itself reads consecutive messages of one speaker as one."""
    calls_apart: bool = False
    """Whether it refuses calls in a message that follows another one of the model's, and the
    results of one message's calls in several."""
    results_by_user: bool = False
    """Whether results belong to a user turn, before the user's own text."""
    bridges: bool = False
    """Whether an assistant must speak between results and a user."""
    reasoning: Reasoning = Reasoning.NONE
    images: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    image_urls: bool = False
    file_urls: frozenset[str] = frozenset()
    """The types of files that may be given by URL."""
    assistant_media: bool = False
    result_media: bool = False
    error_media: bool = True
    """Whether results that are errors may hold media too, if results may."""
    encoded_signatures: frozenset[str] = frozenset()
    """Which signatures must be base64: `signature`, `data`."""
    opaque: Mapping[Role, frozenset[str]] = field(default_factory=dict)
    """The provider's own block types, by the role of the turn in which they are allowed."""
    content_is_text: bool = False
    """Whether an answer of only calls is given an empty text: some hosts fail on null."""
    written_arguments: bool = False
    """Whether a call's arguments are JSON text, so that they can stay as they came."""
    text_arguments: bool = False
    """Whether a call's arguments may be any text."""
    speakers: re.Pattern[str] | None = None
    """The pattern for names of speakers; None if no names are allowed."""
