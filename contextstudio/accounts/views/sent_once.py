"""Forms whose answer shows a secret: reloading it sends the form again, and does nothing.

Such an answer can't be a redirect, since the secret isn't stored anywhere to be shown after one.
So each form has an id of its own, and the browser's session keeps those that were carried out.
"""

import secrets

from django.contrib import messages
from django.http import HttpRequest

MAX_KEPT = 20
"""How many of the newest forms a browser's session remembers."""
_KEPT = "sent_forms"
_FIELD = "form_id"


def new_form_id() -> str:
    return secrets.token_urlsafe(12)


def was_sent(request: HttpRequest) -> bool:
    """Whether this form was carried out before; the user is told."""
    again = request.POST.get(_FIELD) in request.session.get(_KEPT, ())
    if again:
        messages.warning(
            request,
            "This form was sent already, so nothing was created again. What it created is shown "
            "only once.",
        )
    return again


def note_sent(request: HttpRequest) -> None:
    """Remember that this form was carried out."""
    form_id = request.POST.get(_FIELD, "")[:100]
    if form_id:
        kept = [*request.session.get(_KEPT, ()), form_id]
        request.session[_KEPT] = kept[-MAX_KEPT:]
