"""URLs of the pages that need only the originals."""

from django.urls import path

from .imports import views as imports
from .sessions import views as sessions

app_name = "threads"
_SESSION = "sessions/<uuid:session_id>/"
urlpatterns = [
    path("sessions/import", imports.import_transcripts, name="import"),
    path("imports/", imports.imports_made, name="imports"),
    path("imports/<uuid:import_id>/", imports.report, name="report"),
    path(
        "imports/<uuid:import_id>/delete-sessions",
        imports.delete_sessions,
        name="delete_sessions",
    ),
    path(
        "imports/<uuid:import_id>/restore-sessions",
        imports.restore_sessions,
        name="restore_sessions",
    ),
    path("jobs/", imports.job_rows, name="jobs"),
    path("jobs/<uuid:job_id>/cancel", imports.cancel_job, name="cancel_job"),
    path("jobs/<uuid:job_id>/forget", imports.forget_job, name="forget_job"),
    path(f"{_SESSION}rename", sessions.rename, name="rename"),
    path(f"{_SESSION}delete", sessions.delete, name="delete"),
    path(f"{_SESSION}restore", sessions.restore, name="restore"),
    path(f"{_SESSION}purge", sessions.purge, name="purge"),
    path("sessions/deleted", sessions.deleted, name="deleted"),
]
