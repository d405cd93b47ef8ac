"""Static files, answered before Django is asked."""

from typing import Any
from wsgiref.headers import Headers

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from servestatic import ServeStaticASGI


def with_static_files(application: Any) -> Any:
    """The application behind the static files.

    In production they are what `collectstatic` gathered, with hashed names that never change.
    Otherwise they come straight from where the finders see them, and a browser asks each time
    whether they have changed, so that a start needs no collecting.
    """
    served = ServeStaticASGI(
        application,
        autorefresh=settings.DEBUG,
        max_age=None if settings.PRODUCTION else 0,
        allow_all_origins=False,
        add_headers_function=_harden,
    )
    roots = [settings.STATIC_ROOT] if settings.PRODUCTION else _source_folders()
    for root in roots:
        served.add_files(root, prefix=settings.STATIC_URL)
    return served


def _source_folders() -> list[str]:
    """The folders with static files; later ones win, as the first finder does in Django."""
    folders = [
        storage.location
        for finder in get_finders()
        for storage in getattr(finder, "storages", {}).values()
    ]
    return folders[::-1]


def _harden(headers: Headers, path: str, url: str) -> None:
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Content-Security-Policy"] = "default-src 'none'; style-src 'self'; sandbox"
