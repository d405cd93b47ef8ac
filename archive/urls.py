"""Where the pages are of what outlives a session."""

from django.urls import path

from . import views

app_name = "archive"
urlpatterns = [
    path("sessions/<uuid:session_id>/memos", views.memos, name="memos"),
    path("sessions/<uuid:session_id>/memos/<uuid:memo_id>", views.memo, name="memo"),
]
