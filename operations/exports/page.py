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
                    writer.label,
                    f"{address}?{urlencode({'format': name, 'view': view})}",
                )
                for name, writer in formats.WRITERS.items()
            ],
        )
        for view, title, hint in _GROUPS
    ]
