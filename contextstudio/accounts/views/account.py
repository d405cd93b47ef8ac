"""The page of the signed-in person's own account."""

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.password_validation import password_validators_help_texts
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from contextstudio.accounts import services
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import (
    DomainError,
    Forbidden,
    Invalid,
    Unauthenticated,
)
from contextstudio.accounts.models import User

from .forms import field_of
from .sign_in import place_of


class PasswordForm(forms.Form):
    """A new password, and the current one if there is one."""

    current = forms.CharField(
        max_length=1000,
        strip=False,
        label="Current password",
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )
    new = forms.CharField(
        max_length=1000,
        strip=False,
        label="New password",
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )

    def __init__(self, *args: object, user: User) -> None:
        super().__init__(*args)  # type: ignore[arg-type]  # as they came
        rules = " ".join(password_validators_help_texts())
        self.fields["new"].help_text = rules
        if not user.has_usable_password():
            del self.fields["current"]


@sensitive_post_parameters("current", "new")
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Who is signed in, and a form for another password."""
    caller = caller_of(request)
    if caller.user_id is None:
        raise Forbidden("Only a person has an account.")
    user = User.objects.get(pk=caller.user_id)
    form = PasswordForm(request.POST or None, user=user)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                _change_password(request, user, **form.cleaned_data)
            except DomainError as refusal:
                form.add_error(field_of(refusal, form), refusal.message)
                status = refusal.status
            else:
                messages.success(
                    request, "The password is set. Other browsers are signed out."
                )
                return redirect("accounts:account")
    context = {"form": form, "user": user, "has_password": user.has_usable_password()}
    return render(request, "accounts/account.html", context, status=status)


def _change_password(
    request: HttpRequest, user: User, *, new: str, current: str = ""
) -> None:
    """Set another password; this browser stays signed in."""
    if user.has_usable_password():
        try:
            services.check_password(
                request, username=user.username, password=current, **place_of(request)
            )
        except Unauthenticated as refusal:
            raise Invalid(
                "This is not your current password.", at=["current"]
            ) from refusal
    services.set_password(user, services.hashed_password(new, user, at="new"))
    update_session_auth_hash(request, user)
