"""Upstreams as JSON. A key goes in and never comes out."""

from datetime import datetime

from ninja import Schema
from pydantic import BaseModel, Field

from contextstudio.accounts.shape import RequestBody
from operations.models import Upstream

from .services import WireProvider


class UpstreamIn(RequestBody):
    """Where requests of one form go."""

    base_url: str = Field(
        max_length=500,
        description="What the provider's own SDK takes, with or without `/v1`.",
    )
    api_key: str | None = Field(
        None,
        max_length=4000,
        description="Stored encrypted. Left out: the one that is there stays, as long as the "
        "origin does; empty: the caller brings one.",
    )
    model: str = Field(
        "", max_length=128, description="Sent in place of the caller's, where given."
    )
    tools: str = Field(
        "",
        max_length=500,
        description="Tools of ContextStudio that are added to each request, and whose calls are "
        "answered here: names and groups, separated by commas, such as `edit,recall`.",
    )


class UpstreamOut(BaseModel):
    """An upstream, without its key."""

    provider: WireProvider
    base_url: str
    has_key: bool
    model: str
    tools: str
    updated_at: datetime


class UpstreamList(Schema):
    """The upstreams of a project."""

    items: list[UpstreamOut]


def present(upstream: Upstream) -> UpstreamOut:
    """An upstream as it may be shown."""
    return UpstreamOut(
        provider=WireProvider(upstream.provider),
        base_url=upstream.base_url,
        has_key=bool(upstream.sealed_key),
        model=upstream.model,
        tools=upstream.tools,
        updated_at=upstream.updated_at,
    )
