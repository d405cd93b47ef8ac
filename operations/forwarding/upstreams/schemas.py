"""Upstreams as JSON. A key goes in and never comes out."""

from datetime import datetime

from ninja import Schema
from pydantic import BaseModel, Field

from contextstudio.accounts.shape import RequestBody
from operations.models import Upstream
from threads.sessions.presentation import Name

from .services import WireProvider


class UpstreamIn(RequestBody):
    """Where requests in one provider's format are forwarded to."""

    base_url: str = Field(
        max_length=500,
        description="As the provider's own SDK takes it, with or without `/v1`.",
    )
    api_key: str | None = Field(
        None,
        max_length=4000,
        description="Stored encrypted. If left out, the stored key is kept unless the origin of "
        "`base_url` changes; if empty, each client sends its own.",
    )
    model: Name = Field(
        "",
        max_length=128,
        description="A model to send instead of the one a client names.",
    )
    tools: str = Field(
        "",
        max_length=500,
        description="ContextStudio's tools to add to each request and to answer calls of: names "
        "and groups, separated by commas, such as `edit,recall`.",
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
