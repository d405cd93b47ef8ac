"""What the API answers of a search."""

import uuid

from pydantic import BaseModel


class SearchExcerpt(BaseModel):
    """Around the first place of a match: `text[start:end]`, in code points, is what matched."""

    text: str
    start: int
    end: int


class SearchMatch(BaseModel):
    """A message that holds what was searched."""

    session_id: uuid.UUID
    project: str
    title: str
    key: str
    index: int
    role: str
    excerpt: SearchExcerpt


class FoundTitle(BaseModel):
    """A session whose title holds what was searched."""

    session_id: uuid.UUID
    project: str
    title: str


class SearchPage(BaseModel):
    """Some matches, the newest text first."""

    items: list[SearchMatch]
    titles: list[FoundTitle]
    next_cursor: str | None
