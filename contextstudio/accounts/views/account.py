"""The page of one's own account: another name, another password."""

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.password_validation import password_validators_help_texts
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from contextstudio.accounts import services
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import (
    DomainError,
    Forbidden,
    Unauthenticated,
)
from contextstudio.accounts.models import User
from contextstudio.accounts.sign_in import passwords

from .forms import field_of
from .sign_in import place_of


class NameForm(forms.Form):
    """The name that others see."""

    display_name = forms.CharField(
        max_length=150,
        required=False,
        label="Name",
        widget=forms.TextInput({"autocomplete": "name"}),
    )


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


@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """Who is signed in, with forms for another name and another password."""
    return _page(request, _person(request))


@require_POST
def rename(request: HttpRequest) -> HttpResponse:
    """Change the name that others see."""
    user, form = _person(request), NameForm(request.POST)
    if not form.is_valid():
        return _page(request, user, name=form)
    try:
        services.rename_user(user, form.cleaned_data["display_name"])
    except DomainError as refusal:
        form.add_error(field_of(refusal, form), refusal.message)
        return _page(request, user, name=form)
    messages.success(request, f"Others now see you as {user}.")
    return redirect("accounts:account")


@sensitive_post_parameters("current", "new")
@require_POST
def change_password(request: HttpRequest) -> HttpResponse:
    """Set another password. This browser stays signed in; all others are signed out."""
    user = _person(request)
    form = PasswordForm(request.POST, user=user)
    if not form.is_valid():
        return _page(request, user, password=form)
    try:
        if user.has_usable_password():
            passwords.check_password(
                request,
                username=user.username,
                password=form.cleaned_data["current"],
                **place_of(request),
            )
        new = passwords.hashed_password(form.cleaned_data["new"], user, at="new")
    except Unauthenticated:
        form.add_error("current", "This is not your current password.")
        return _page(request, user, password=form)
    except DomainError as refusal:
        form.add_error(field_of(refusal, form), refusal.message)
        return _page(request, user, password=form, status=refusal.status)
    passwords.set_password(user, new)
    update_session_auth_hash(request, user)
    messages.success(request, "The password is set. Other browsers are signed out.")
    return redirect("accounts:account")


def _person(request: HttpRequest) -> User:
    """The person who is signed in. Raises Forbidden for a key."""
    caller = caller_of(request)
    if caller.user_id is None:
        raise Forbidden("Only a person has an account.")
    return User.objects.get(pk=caller.user_id)


def _page(
    request: HttpRequest,
    user: User,
    *,
    name: NameForm | None = None,
    password: PasswordForm | None = None,
    status: int = 422,
) -> HttpResponse:
    """The page; one of its forms may come back refused, with a status."""
    context = {
        "user": user,
        "has_password": user.has_usable_password(),
        "name_form": name or NameForm(initial={"display_name": user.display_name}),
        "form": password or PasswordForm(user=user),
    }
    is_refused = name or password
    return render(
        request, "accounts/account.html", context, status=status if is_refused else 200
    )
