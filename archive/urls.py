"""URLs of the archive's pages."""

from django.urls import path

from . import views
from .entries import views as entries
from .hindsight import views as hindsight
from .pruning import views as pruning
from .summaries import session_views as session_summaries
from .summaries import views as summaries
from .transfer import views as transfer
from .tray import views as tray

app_name = "archive"
urlpatterns = [
    path("sessions/<uuid:session_id>/memos", views.memos, name="memos"),
    path("sessions/<uuid:session_id>/memos/<uuid:memo_id>", views.memo, name="memo"),
    path("sessions/<uuid:session_id>/archive", entries.page, name="archive"),
    path("sessions/<uuid:session_id>/archive/insert", entries.insert, name="insert"),
    path("sessions/<uuid:session_id>/tray", tray.add, name="add_to_tray"),
    path("sessions/<uuid:session_id>/tray/insert", tray.insert, name="insert_tray"),
    path("sessions/<uuid:session_id>/tray/empty", tray.remove, name="empty_tray"),
    path(
        "sessions/<uuid:session_id>/tray/<uuid:item_id>/remove",
        tray.remove,
        name="remove_from_tray",
    ),
    path("sessions/<uuid:session_id>/transfer", transfer.write, name="transfer"),
    path("sessions/<uuid:session_id>/recall", entries.recall, name="recall"),
    path("sessions/<uuid:session_id>/hindsight", hindsight.losses, name="hindsight"),
    path(
        "sessions/<uuid:session_id>/hindsight/trials",
        hindsight.start_trial,
        name="start-trial",
    ),
    path(
        "sessions/<uuid:session_id>/hindsight/trials/<uuid:job_id>",
        hindsight.trial,
        name="trial",
    ),
    path("sessions/<uuid:session_id>/prune", pruning.page, name="prune"),
    path(
        "settings/projects/<slug:slug>/providers",
        summaries.project_providers,
        name="providers",
    ),
    path(
        "settings/projects/<slug:slug>/providers/settings",
        summaries.settings,
        name="summary_settings",
    ),
    path(
        "settings/projects/<slug:slug>/providers/<str:name>/remove",
        summaries.remove,
        name="remove_provider",
    ),
    path(
        "settings/projects/<slug:slug>/providers/<str:name>/test",
        summaries.test,
        name="test_provider",
    ),
    path("sessions/<uuid:session_id>/summaries", summaries.order, name="summaries"),
    path(
        "sessions/<uuid:session_id>/summaries/pending",
        session_summaries.pending,
        name="pending_summaries",
    ),
    path(
        "sessions/<uuid:session_id>/summaries/settings",
        session_summaries.settings,
        name="session_summaries",
    ),
    path(
        "sessions/<uuid:session_id>/summaries/<uuid:job_id>",
        summaries.progress,
        name="summary",
    ),
    path(
        "sessions/<uuid:session_id>/summaries/<uuid:job_id>/<str:verb>",
        summaries.act,
        name="act_on_summary",
    ),
    path(
        "sessions/<uuid:session_id>/state",
        summaries.rebuild_state,
        name="rebuild_state",
    ),
    path(
        "sessions/<uuid:session_id>/state/<uuid:job_id>",
        summaries.rebuilt_state,
        name="rebuilt_state",
    ),
]
