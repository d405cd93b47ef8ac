"""The download of a session as a transfer file."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of

from .presentation import transfer_response


@require_safe
def write(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The file from which an import, here or elsewhere, creates the same session."""
    return transfer_response(caller_of(request), session_id)
