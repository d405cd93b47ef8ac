"""The provider checks of the thread's header: whether each accepts the thread as it stands."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid
from operations.context.provider_checks import ProviderCheck, load_checks
from operations.context.services import MOST_UNASKED
from operations.domain.providers import PROVIDERS
from threads.models import Session
from threads.store.selectors import get_session

from .check_page import shown_checks


@require_safe
def provider_checks(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The checks that have run; `provider` runs one more. Raises Invalid."""
    session = get_session(caller_of(request), session_id)
    asked = request.GET.get("provider", "")
    if asked and asked not in PROVIDERS:
        raise Invalid("There is no such provider.", at=["provider"])
    found = load_checks(session, [asked]) if asked else _unasked(session)
    context = {"session": session, "checks": shown_checks(session, found)}
    return render(request, "operations/context/provider_checks.html", context)


def _unasked(session: Session) -> dict[str, ProviderCheck]:
    is_long = session.message_count > MOST_UNASKED
    return {} if is_long else load_checks(session, list(PROVIDERS))
