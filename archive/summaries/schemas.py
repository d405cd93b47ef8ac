"""JSON schemas of summaries, providers and settings. A key is write-only."""

import uuid
from typing import Any, Literal

from ninja import Schema
from pydantic import Field

from archive.domain.summaries.providers import PROVIDERS, Choice
from contextstudio.accounts.shape import RequestBody
from threads.sessions.presentation import Name

from .providers import ModelTarget
from .services import MAX_WISH_LENGTH, Ordered


class SummaryIn(RequestBody):
    """Which messages to sum up, and how."""

    start: int | None = Field(None, ge=0, description="Index of the first original.")
    end: int | None = Field(None, ge=0, description="Index after the last original.")
    targets: list[str] | None = Field(
        None,
        min_length=1,
        description="Keys of messages, instead of `start` and `end`.",
    )
    provider: str = Field(
        "",
        max_length=32,
        description="By default as the settings say, or else the fastest that is set up. "
        "`rules` makes a structural digest without a model.",
    )
    model: Name = Field("", max_length=128, description="By default the provider's.")
    instructions: str = Field(
        "",
        max_length=MAX_WISH_LENGTH,
        pattern=r"^[^\x00]*$",
        description="What the summary should pay attention to.",
    )
    propose: bool = Field(
        False, description="Record the digest as a proposal, to be reviewed."
    )
    record: bool = Field(
        True, description="Whether to record a digest; if false, only return the text."
    )
    expected_head: int | None = Field(None, ge=0)
    """Refuse (409) if the log has grown beyond this entry."""


class ChoiceOut(Schema):
    """Which model is asked, and why. If `provider` is null, rules make a structural digest."""

    provider: str | None
    model: str | None
    why: str
    """Why it was chosen, in a sentence."""


class OrderedOut(ChoiceOut):
    """A job that calls a model: see `GET /api/jobs/{job_id}`."""

    job_id: uuid.UUID


class ProviderOut(Schema):
    """A provider of models, and whether it is set up for this project."""

    name: str
    label: str
    is_set: bool
    source: Literal["environment", "project", "upstream"] | None
    """Where its key comes from; null if it isn't set up."""
    base_url: str
    model: str
    """The model that is used unless a request names another."""


class ProvidersOut(Schema):
    """All providers, and the one that would summarise now."""

    items: list[ProviderOut]
    chosen: ChoiceOut


class ProviderIn(RequestBody):
    """A project's settings for a provider."""

    base_url: str = Field(
        "", max_length=500, description="By default the provider's own."
    )
    api_key: str | None = Field(
        None,
        max_length=4000,
        description="Stored encrypted. If left out, the stored key is kept unless the origin of "
        "`base_url` changes; if empty, it is removed.",
    )
    model: Name = Field("", max_length=128, description="By default the provider's.")


class TestIn(RequestBody):
    """The model to test."""

    model: Name = Field("", max_length=128)


class SettingsIn(RequestBody):
    """Which model summarises. Fields left out stay as they are.

    An empty text or null removes a setting: then a session follows its project, and a project the
    default, which is the fastest model that is set up.
    """

    summarization_provider: str | None = Field("", max_length=32)
    """A provider's name, or `rules` for summaries without a model."""
    summarization_model: Name | None = Field("", max_length=128)
    """The model's name at the provider."""
    disable_auto_summarize: bool | None = None
    """Whether nothing is summarised automatically."""


class SettingsOut(Schema):
    """The settings of a project, or a session's own, without those that it inherits."""

    summarization_provider: str
    summarization_model: str
    disable_auto_summarize: bool | None


def present_choice(choice: Choice) -> dict[str, Any]:
    return {
        "provider": choice.provider or None,
        "model": choice.model or None,
        "why": choice.why,
    }


def present_order(ordered: Ordered) -> dict[str, Any]:
    return {"job_id": ordered.job.pk, **present_choice(ordered.choice)}


def present_providers(targets: dict[str, ModelTarget]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "label": provider.label,
            "is_set": name in targets,
            "source": targets[name].source if name in targets else None,
            "base_url": targets[name].base_url
            if name in targets
            else provider.base_url,
            "model": (targets[name].model if name in targets else "") or provider.small,
        }
        for name, provider in PROVIDERS.items()
    ]
