"""Where the pages are that need the originals only."""

from django.urls import path

from . import views

app_name = "threads"
_SESSION = "sessions/<uuid:session_id>/"
urlpatterns = [
    path("sessions/import", views.import_transcripts, name="import"),
    path("imports/", views.imports_made, name="imports"),
    path("imports/<uuid:import_id>/", views.report, name="report"),
    path("jobs/", views.job_rows, name="jobs"),
    path("jobs/<uuid:job_id>/cancel", views.cancel_job, name="cancel_job"),
    path("jobs/<uuid:job_id>/forget", views.forget_job, name="forget_job"),
    path(f"{_SESSION}rename", views.rename, name="rename"),
    path(f"{_SESSION}delete", views.delete, name="delete"),
]
