"""Where the pages of accounts are."""

from django.urls import path

from . import views

app_name = "accounts"
urlpatterns = [
    path("sign-in", views.sign_in, name="sign_in"),
    path("sign-in/<str:token>", views.sign_in_with_link, name="sign_in_with_link"),
    path("sign-out", views.sign_out, name="sign_out"),
    path("settings/keys/", views.keys, name="keys"),
    path("settings/keys/<int:key_id>/revoke", views.revoke_key, name="revoke_key"),
]
