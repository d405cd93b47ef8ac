"""What one provider takes, as far as the passes need to know it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from threads.domain.message import Role

PICTURES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""The kinds of images that all providers take that take any."""
PDF = frozenset({"application/pdf"})


class Reasoning(StrEnum):
    """What of a model's reasoning a request may hold."""

    NONE = "none"
    WORDS = "words"
    """Its words, without a signature."""
    SIGNED = "signed"
    """With a signature that holds only while nothing before it is changed."""
    ITEMS = "items"
    """The same, each in an item of its own that another must follow."""
    KEPT = "kept"
    """With a signature that holds while the message itself is unchanged."""

    @property
    def is_bound(self) -> bool:
        """Whether a signature stands for all that is before it."""
        return self in (Reasoning.SIGNED, Reasoning.ITEMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alphabet:
    """What an id or a name may be: characters (one of them matches `legal`) and length."""

    legal: re.Pattern[str]
    longest: int
    shortest: int = 1

    def takes(self, text: str) -> bool:
        """Whether a text is one."""
        is_long_enough = self.shortest <= len(text) <= self.longest
        return is_long_enough and self.legal.fullmatch(text) is not None


IDS = Alphabet(legal=re.compile(r"[a-zA-Z0-9_-]+"), longest=40)
NAMES = Alphabet(legal=re.compile(r"[a-zA-Z0-9_-]+"), longest=64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A provider's rules; what isn't said is forbidden."""

    strategies: frozenset[str] = frozenset()
    """The parsing strategies of messages that this provider's own models wrote."""
    ids: Alphabet = IDS
    names: Alphabet = NAMES
    system_anywhere: bool = False
    alternates: bool = True
    """Whether speakers take turns, a user first and none but a user or a tool last."""
    merges: bool = False
    """Whether the provider itself reads messages of one speaker in a row as one."""
    results_by_user: bool = False
    """Whether results stand in a user's turn, before the user's words behind them."""
    bridges: bool = False
    """Whether an assistant must speak between results and a user."""
    reasoning: Reasoning = Reasoning.NONE
    images: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    image_urls: bool = False
    file_urls: frozenset[str] = frozenset()
    """The kinds of files that may be given by their address."""
    assistant_media: bool = False
    result_media: bool = False
    error_media: bool = True
    """Whether results that are errors may hold media too, where results may."""
    encoded_signatures: frozenset[str] = frozenset()
    """Which signatures must be base64: `signature`, `data`."""
    opaque: Mapping[Role, frozenset[str]] = field(default_factory=dict)
    """Blocks of its own, by the role of the turn in which they may stand."""
    content_is_text: bool = False
    """Whether an answer that is calls alone has an empty text: some hosts fail on null."""
    written_arguments: bool = False
    """Whether a call's arguments stand as the text of JSON, so that they can stay as they came."""
    text_arguments: bool = False
    """Whether a call's arguments may be any text."""
    speakers: re.Pattern[str] | None = None
    """What the name of a speaker must be; None: none may be given."""
