"""Where the pages are of what outlives a session's context."""

from django.urls import path

from . import views
from .entries import views as entries
from .hindsight import views as hindsight
from .pruning import views as pruning

app_name = "archive"
urlpatterns = [
    path("sessions/<uuid:session_id>/memos", views.memos, name="memos"),
    path("sessions/<uuid:session_id>/memos/<uuid:memo_id>", views.memo, name="memo"),
    path("sessions/<uuid:session_id>/archive", entries.page, name="archive"),
    path("sessions/<uuid:session_id>/archive/insert", entries.insert, name="insert"),
    path("sessions/<uuid:session_id>/recall", entries.recall, name="recall"),
    path("sessions/<uuid:session_id>/hindsight", hindsight.losses, name="hindsight"),
    path("sessions/<uuid:session_id>/prune", pruning.page, name="prune"),
]
