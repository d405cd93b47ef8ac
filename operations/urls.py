"""Where the pages are that show sessions and their threads."""

from django.urls import path, register_converter

from .context.pages import checks, context, policy
from .editor.views import (
    dialogs,
    edits,
    estimates,
    find_replace,
    panels,
    records,
    selection,
    snapshots,
    thread,
)
from .forwarding.requests import page as forwarding
from .forwarding.sent import page as sent
from .forwarding.upstreams import views as upstreams
from .ledger import views as ledger
from .notes import views as notes
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


class SwitchConverter:
    """On or off."""

    regex = "on|off"

    def to_python(self, text: str) -> bool:
        return text == "on"

    def to_url(self, active: bool) -> str:
        return "on" if active else "off"


register_converter(KeyConverter, "key")
register_converter(SwitchConverter, "switch")
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
    path(f"{_SESSION}messages/<key:key>/raw", records.raw, name="raw"),
    path(f"{_SESSION}events", records.events, name="events"),
    path(f"{_SESSION}events/<int:event_id>", records.event, name="event"),
    path(f"{_SESSION}export", thread.export, name="export"),
    path(f"{_SESSION}selection", selection.selection, name="selection"),
    path(f"{_SESSION}tokens", selection.tokens, name="tokens"),
    path(f"{_SESSION}locate", selection.locate, name="locate"),
    path(f"{_SESSION}find", selection.find, name="find"),
    path(f"{_SESSION}dialogs/texts", find_replace.dialog, name="texts-dialog"),
    path(f"{_SESSION}dialogs/<slug:kind>", dialogs.dialog, name="dialog"),
    path(f"{_SESSION}context", context.page, name="context"),
    path(f"{_SESSION}context.json", context.request_body, name="request"),
    path(
        f"{_SESSION}provider-checks",
        checks.provider_checks,
        name="provider-checks",
    ),
    path(f"{_SESSION}policy", policy.page, name="policy"),
    path(f"{_SESSION}policy/effect", policy.effect, name="effect"),
    path(f"{_SESSION}ledger", ledger.lines, name="ledger"),
    path(f"{_SESSION}sent", sent.page, name="sent"),
    path(
        "settings/projects/<slug:slug>/upstreams", upstreams.upstreams, name="upstreams"
    ),
    path(
        "settings/projects/<slug:slug>/upstreams/remove",
        upstreams.remove,
        name="remove-upstream",
    ),
    path(f"{_SESSION}notes", notes.page, name="notes"),
    path(f"{_SESSION}requests", forwarding.requests, name="requests"),
    path(f"{_SESSION}panel", panels.operations, name="panel"),
    path(f"{_SESSION}log", panels.log, name="log"),
    path(f"{_SESSION}outline", panels.outline, name="outline"),
    path(f"{_SESSION}estimate", estimates.estimate, name="estimate"),
    path(f"{_SESSION}operations", edits.record, name="record"),
    path(f"{_SESSION}texts", find_replace.texts, name="texts"),
    path(f"{_SESSION}operations/<key:key>/amend", edits.amend, name="amend"),
    path(f"{_SESSION}operations/<key:key>/<act:verb>", edits.act, name="act"),
    path(
        f"{_SESSION}bundles/<uuid:bundle_id>/<act:verb>",
        edits.act_on_bundle,
        name="act-on-bundle",
    ),
    path(
        f"{_SESSION}actors/<str:actor>/<switch:active>",
        edits.switch_all,
        name="switch-all",
    ),
    *(
        path(
            f"{_SESSION}proposals/{verb}",
            edits.review,
            {"verb": verb.value},
            name=f"{verb}-all",
        )
        for verb in edits.VERDICTS
    ),
    path(f"{_SESSION}undo", edits.step, {"name": "undo"}, name="undo"),
    path(f"{_SESSION}redo", edits.step, {"name": "redo"}, name="redo"),
    path(f"{_SESSION}staged/commit", edits.step, {"name": "commit"}, name="commit"),
    path(f"{_SESSION}staged/discard", edits.step, {"name": "discard"}, name="discard"),
    path(f"{_SESSION}tags", edits.tags, name="tags"),
    path(f"{_SESSION}lenses/use", edits.use_lens, name="use-lens"),
    path(f"{_SESSION}lenses/delete", edits.delete_lens, name="delete-lens"),
    path(f"{_SESSION}snapshots", snapshots.take, name="take-snapshot"),
    path(f"{_SESSION}snapshots/restore", snapshots.restore, name="restore-snapshot"),
    path(f"{_SESSION}snapshots/delete", snapshots.delete, name="delete-snapshot"),
]
