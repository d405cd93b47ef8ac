"""The pages of invitations: creating and withdrawing a link, and the page behind it."""

from django import forms
from django.contrib import messages
from django.contrib.auth.password_validation import password_validators_help_texts
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from contextstudio.accounts import invitations
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import DomainError, NotFound
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.models import User
from contextstudio.accounts.selectors import get_project

from .forms import field_of
from .projects import InvitationForm, project_page
from .sent_once import note_sent, was_sent
from .sign_in import let_in


class AccountForm(forms.Form):
    """A new account."""

    username = forms.CharField(max_length=150, label="Username")
    display_name = forms.CharField(max_length=150, required=False, label="Name")
    password = forms.CharField(
        max_length=1000,
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]  # as they came
        rules = " ".join(password_validators_help_texts())
        self.fields["password"].help_text = rules


@require_POST
def invite(request: HttpRequest, slug: str) -> HttpResponse:
    """Create a link, which is shown only this once."""
    caller = caller_of(request)
    found = get_project(caller, slug, Right.ADMIN)
    if was_sent(request):
        return redirect("accounts:project", slug)
    form = InvitationForm(request.POST, auto_id="invite_%s")
    if not form.is_valid():
        return project_page(request, caller, found, invitation=form)
    role = ProjectRole(form.cleaned_data["role"])
    token = invitations.invite(caller, found, role, note=form.cleaned_data["note"])
    note_sent(request)
    link = request.build_absolute_uri(f"/sign-in/invitation/{token}")
    return project_page(request, caller, found, link=link)


@require_POST
def withdraw(request: HttpRequest, slug: str, invitation_id: int) -> HttpResponse:
    """Invalidate a link."""
    caller = caller_of(request)
    found = get_project(caller, slug, Right.ADMIN)
    invitations.withdraw(caller, found, invitation_id)
    messages.success(request, "Invitation withdrawn.")
    return redirect("accounts:project", slug)


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """The page of a link, whose button uses it up: to create an account, or to join."""
    form = AccountForm()
    status = 200
    try:
        found = invitations.open_invitation(token)
        user = request.user if isinstance(request.user, User) else None
        role = user and invitations.role_in(found.project, user)
        if request.method == "POST" and user is not None and role is None:
            invitations.accept_as(token, user)
            messages.success(request, f"You joined {found.project}.")
            return redirect("accounts:project", found.project.slug)
        if request.method == "POST" and user is None:
            form = AccountForm(request.POST)
            if form.is_valid():
                made = invitations.accept_with_account(token, **form.cleaned_data)
                return let_in(request, made)
            status = 422
    except NotFound as refusal:
        gone = {"refusal": refusal.message}
        return render(request, "accounts/invitation.html", gone, status=410)
    except DomainError as refusal:
        form.add_error(field_of(refusal, form), refusal.message)
        status = 422
    context = {"invitation": found, "form": form, "user": user, "role": role}
    return render(request, "accounts/invitation.html", context, status=status)
