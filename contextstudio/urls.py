"""All URLs: the pages of each app, the API, and endpoints for operators."""

from django.conf import settings
from django.urls import include, path
from django.urls.resolvers import URLPattern, URLResolver
from django.views.generic import RedirectView

from .api import api
from .web import health, help

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/", api.urls),
    path("healthz", health.alive),
    path("readyz", health.ready),
    path("metrics", health.metrics),
    path("help/", help.page, name="help"),
    path("help/<slug:name>", help.page, name="help_page"),
    path("csp-report", health.record_report),
    # Requested for responses without a head of their own, such as plain text.
    path("favicon.ico", RedirectView.as_view(url=f"{settings.STATIC_URL}favicon.svg")),
    path("", include("contextstudio.accounts.urls")),
    path("", include("threads.urls")),
    path("", include("operations.urls")),
    path("", include("archive.urls")),
]
handler500 = "contextstudio.web.middleware.server_error"
handler404 = "contextstudio.web.middleware.page_not_found"
