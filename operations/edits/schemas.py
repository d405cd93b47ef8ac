"""What the API takes and answers of threads and operations."""

import uuid

from pydantic import BaseModel, Field

from contextstudio.accounts.shape import RequestBody

from .arguments import AnyEdit, TagName


class HeadIn(RequestBody):
    """The entry that the caller knows to be the last."""

    expected_head: int | None = Field(None, ge=0)


class ToggleIn(HeadIn):
    """On or off."""

    active: bool


class BundleIn(HeadIn):
    """Edits to record as one."""

    title: str = Field("", max_length=300)
    operations: list[AnyEdit] = Field(min_length=1, max_length=1000)


class LensIn(RequestBody):
    """The tags of a lens."""

    tags: list[TagName]


class WarningOut(BaseModel):
    """Something the caller should know of what was recorded."""

    code: str
    detail: str


class ChangedOut(BaseModel):
    """Another operation that fares otherwise now."""

    key: str
    id: uuid.UUID
    type: str
    before: str
    status: str
    reason: str


class SwitchOut(BaseModel):
    """What switching, taking back or reviewing came to."""

    success: bool
    head: int
    warnings: list[WarningOut]
    changed: list[ChangedOut]


class ResolvedOut(BaseModel):
    """What an edit names: the range of its originals, and its keys."""

    first: int | None
    last: int | None
    count: int
    keys: list[str]


class OneRecorded(BaseModel):
    """An edit that was recorded."""

    operation_id: uuid.UUID
    key: str
    type: str
    resolved: ResolvedOut
    status: str
    reason: str


class RecordedOut(SwitchOut, OneRecorded):
    """What recording one edit came to."""


class BundleOut(SwitchOut):
    """What recording a bundle came to."""

    bundle_id: uuid.UUID
    operations: list[OneRecorded]


class LensOut(BaseModel):
    """A named set of active tags."""

    name: str
    tags: list[str]
