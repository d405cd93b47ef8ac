"""What words cost that are being written: asked while somebody types, nothing is recorded."""

import uuid

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_POST

from contextstudio.accounts.authentication import caller_of
from threads.store.selectors import get_session
from threads.tokens import count_many


@require_POST
def tokens(request: HttpRequest, session_id: uuid.UUID) -> JsonResponse:
    """The tokens of `text` as the session counts them; line ends as a form's words have them."""
    session = get_session(caller_of(request), session_id)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    return JsonResponse({"tokens": count_many([text], session.encoding)[0]})
