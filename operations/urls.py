"""Where the pages are that show sessions and their threads."""

from django.urls import path, register_converter

from .context.pages import check_views as lights
from .context.pages import context_views as context
from .context.pages import policy_views as policy
from .editor.views import dialogs, edits, events, raw, thread
from .editor.views import find_replace as texts
from .editor.views import panels as asides
from .editor.views import selection as pointing
from .editor.views import token_counts as counting
from .ledger import views as ledger
from .notes import views as notebook
from .sessions import views as sessions


class KeyConverter:
    """The key of a message or an operation."""

    regex = r"(?:m(?:0|[1-9][0-9]{0,8})|o[1-9][0-9]{0,8}(?:\.(?:0|[1-9][0-9]{0,8}))?)"

    def to_python(self, value: str) -> str:
        """The key itself."""
        return value

    to_url = to_python


class ActConverter(KeyConverter):
    """What is done to an operation."""

    regex = "|".join(edits.ACTS)


register_converter(KeyConverter, "key")
register_converter(ActConverter, "act")

app_name = "operations"
_SESSION = "sessions/<uuid:session_id>/"
urlpatterns = [
    path("", sessions.start, name="start"),
    path("sessions/", sessions.index, name="sessions"),
    path("sessions/matches", sessions.matches, name="matches"),
    path(_SESSION, thread.page, name="thread"),
    path(f"{_SESSION}chunk", thread.chunk, name="chunk"),
    path(f"{_SESSION}changes", thread.changes, name="changes"),
    path(f"{_SESSION}folds", thread.folds, name="folds"),
    path(f"{_SESSION}folds/<key:key>", thread.fold, name="fold"),
    path(f"{_SESSION}children", thread.children, name="children"),
    path(f"{_SESSION}messages/<key:key>/raw", raw.raw, name="raw"),
    path(f"{_SESSION}events", events.events, name="events"),
    path(f"{_SESSION}events/<int:event_id>", events.event, name="event"),
    path(f"{_SESSION}export", thread.export, name="export"),
    path(f"{_SESSION}selection", pointing.selection, name="selection"),
    path(f"{_SESSION}tokens", counting.tokens, name="tokens"),
    path(f"{_SESSION}locate", pointing.locate, name="locate"),
    path(f"{_SESSION}find", pointing.find, name="find"),
    path(f"{_SESSION}dialogs/texts", texts.dialog, name="texts-dialog"),
    path(f"{_SESSION}dialogs/<slug:kind>", dialogs.dialog, name="dialog"),
    path(f"{_SESSION}context", context.page, name="context"),
    path(f"{_SESSION}context.json", context.request_body, name="request"),
    path(f"{_SESSION}lights", lights.lights, name="lights"),
    path(f"{_SESSION}policy", policy.page, name="policy"),
    path(f"{_SESSION}policy/effect", policy.effect, name="effect"),
    path(f"{_SESSION}ledger", ledger.lines, name="ledger"),
    path(f"{_SESSION}notes", notebook.page, name="notes"),
    path(f"{_SESSION}panel", asides.operations, name="panel"),
    path(f"{_SESSION}log", asides.log, name="log"),
    path(f"{_SESSION}outline", asides.outline, name="outline"),
    path(f"{_SESSION}operations", edits.record, name="record"),
    path(f"{_SESSION}texts", texts.texts, name="texts"),
    path(f"{_SESSION}operations/<key:key>/amend", edits.amend, name="amend"),
    path(f"{_SESSION}operations/<key:key>/<act:verb>", edits.act, name="act"),
    path(f"{_SESSION}undo", edits.undo, name="undo"),
    path(f"{_SESSION}redo", edits.redo, name="redo"),
    path(f"{_SESSION}staged/commit", edits.commit, name="commit"),
    path(f"{_SESSION}staged/discard", edits.discard, name="discard"),
    path(f"{_SESSION}tags", edits.tags, name="tags"),
]
