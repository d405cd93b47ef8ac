"""A session as a transfer file to download."""

import uuid

from django.http import HttpResponse
from django.utils.http import content_disposition_header

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.responses import json_response
from threads.sessions.downloads import download_name
from threads.store.selectors import get_session

from .writing import write_session


def transfer_response(caller: Caller, session_id: uuid.UUID) -> HttpResponse:
    """The transfer file as a download."""
    answer = json_response(write_session(caller, session_id))
    name = download_name(get_session(caller, session_id), ".session.json")
    answer["Content-Disposition"] = content_disposition_header(True, name)
    return answer
