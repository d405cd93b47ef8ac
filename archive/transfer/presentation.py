"""A session as a transfer file to download."""

import uuid

from django.http import HttpResponse

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.responses import json_response

from .writing import write_session


def transfer_response(caller: Caller, session_id: uuid.UUID) -> HttpResponse:
    """The transfer file as a download."""
    answer = json_response(write_session(caller, session_id))
    name = f"{session_id}.session.json"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
