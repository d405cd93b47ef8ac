"""URLs of the pages of accounts."""

from django.urls import path

from .views import account, invitations, jobs, keys, projects, sign_in

app_name = "accounts"
urlpatterns = [
    path("sign-in", sign_in.sign_in, name="sign_in"),
    path("sign-in/<str:token>", sign_in.sign_in_with_link, name="sign_in_with_link"),
    path("sign-in/invitation/<str:token>", invitations.invitation, name="invitation"),
    path("sign-out", sign_in.sign_out, name="sign_out"),
    path("settings/account/", account.account, name="account"),
    path("settings/account/name", account.rename, name="rename"),
    path("settings/account/password", account.change_password, name="change_password"),
    path("settings/projects/", projects.projects, name="projects"),
    path("settings/projects/<slug:slug>/", projects.project, name="project"),
    path(
        "settings/projects/<slug:slug>/remove",
        projects.remove_member,
        name="remove_member",
    ),
    path(
        "settings/projects/<slug:slug>/rename",
        projects.rename_project,
        name="rename_project",
    ),
    path(
        "settings/projects/<slug:slug>/delete",
        projects.delete_project,
        name="delete_project",
    ),
    path("settings/projects/<slug:slug>/invite", invitations.invite, name="invite"),
    path(
        "settings/projects/<slug:slug>/invitations/<int:invitation_id>/withdraw",
        invitations.withdraw,
        name="withdraw",
    ),
    path("settings/jobs/", jobs.jobs, name="jobs"),
    path("settings/jobs/<uuid:job_id>/<str:verb>", jobs.act, name="job"),
    path("settings/keys/", keys.keys, name="keys"),
    path("settings/keys/<int:key_id>/", keys.key, name="key"),
    path("settings/keys/<int:key_id>/rotate", keys.rotate_key, name="rotate_key"),
    path("settings/keys/<int:key_id>/revoke", keys.revoke_key, name="revoke_key"),
]
