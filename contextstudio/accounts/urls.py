"""Where the pages of accounts are."""

from django.urls import path

from . import views

app_name = "accounts"
urlpatterns = [
    path("sign-in", views.sign_in, name="sign_in"),
    path("sign-in/<str:token>", views.sign_in_with_link, name="sign_in_with_link"),
    path("sign-out", views.sign_out, name="sign_out"),
    path("settings/projects/", views.projects, name="projects"),
    path("settings/projects/<slug:slug>/", views.project, name="project"),
    path(
        "settings/projects/<slug:slug>/remove",
        views.remove_member,
        name="remove_member",
    ),
    path("settings/keys/", views.keys, name="keys"),
    path("settings/keys/<int:key_id>/revoke", views.revoke_key, name="revoke_key"),
]
