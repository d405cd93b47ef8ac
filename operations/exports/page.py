"""The menu of downloads: see `templates/operations/editor/frame/export.html`."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.http import urlencode

from operations.requests import View
from threads.domain import formats
from threads.models import Session

_GROUPS = (
    (View.EFFECTIVE, "Effective", "what the model sees"),
    (View.ORIGINAL, "Original", "as it was recorded"),
)
_NAMES = {
    "contextstudio": "ContextStudio JSON",
    "openai": "OpenAI messages",
    "openai_responses": "OpenAI Responses items",
    "anthropic": "Anthropic messages",
    "gemini": "Gemini contents",
    "atif": "ATIF trajectory",
    "atif_zip": "ATIF with its files",
    "claude_code": "Claude Code session",
    "codex": "Codex rollout",
    "finetuning": "Fine-tuning line",
    "markdown": "Markdown",
    "html": "HTML page",
}


@dataclass(frozen=True, slots=True)
class Download:
    """One entry of the menu."""

    name: str
    href: str


@dataclass(frozen=True, slots=True)
class FormatGroup:
    """The downloads of one view."""

    title: str
    hint: str
    items: list[Download]


def export_menu(session: Session) -> list[FormatGroup]:
    """Every format of both views."""
    address = reverse("operations:export", args=[session.pk])
    return [
        FormatGroup(
            title,
            hint,
            [
                Download(
                    _NAMES.get(name, name),
                    f"{address}?{urlencode({'format': name, 'view': view})}",
                )
                for name in formats.WRITERS
            ],
        )
        for view, title, hint in _GROUPS
    ]
