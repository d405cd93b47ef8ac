"""The lights of the thread's header: whether each provider takes the thread as it stands."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid
from operations.contexts import MOST_UNASKED
from operations.domain.providers import PROVIDERS
from operations.lights import Light, load_lights
from operations.presenters.lights import lamps_of
from threads.models import Session
from threads.selectors import get_session


@require_safe
def lights(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The lights that are known; `provider` asks for one more. Raises Invalid."""
    session = get_session(caller_of(request), session_id)
    asked = request.GET.get("provider", "")
    if asked and asked not in PROVIDERS:
        raise Invalid("There is no such provider.", at=["provider"])
    found = load_lights(session, [asked]) if asked else _unasked(session)
    context = {"session": session, "lights": lamps_of(session, found)}
    return render(request, "operations/lights.html", context)


def _unasked(session: Session) -> dict[str, Light]:
    is_long = session.message_count > MOST_UNASKED
    return {} if is_long else load_lights(session, list(PROVIDERS))
