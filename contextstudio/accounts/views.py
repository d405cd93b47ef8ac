"""The pages of accounts: signing in and out, API keys, projects and their members."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import login, logout
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from . import services
from .authentication import caller_of
from .domain.caller import Caller
from .domain.errors import Conflict, DomainError, Unauthenticated
from .domain.paging import MOST
from .domain.rights import ProjectRole, Right
from .models import Project, User
from .selectors import (
    get_member,
    get_project,
    list_keys,
    list_members,
    require,
    user_named,
    visible_projects,
)

_ROLES = {
    ProjectRole.VIEWER: "Viewer: reads",
    ProjectRole.REVIEWER: "Reviewer: also proposes and reviews",
    ProjectRole.EDITOR: "Editor: also edits and imports",
    ProjectRole.OWNER: "Owner: also manages members and keys",
}
_ARTICLES = {"editor": "an", "owner": "an", "viewer": "a", "reviewer": "a"}
_KNOWN_BROWSER = "contextstudio_browser"
_BACKEND = "django.contrib.auth.backends.ModelBackend"


class SignInForm(forms.Form):
    """A name and a password."""

    username = forms.CharField(max_length=150, strip=False)
    password = forms.CharField(max_length=1000, strip=False, widget=forms.PasswordInput)


class ProjectForm(forms.Form):
    """A new project."""

    name = forms.CharField(max_length=150)
    slug = forms.CharField(
        max_length=64,
        label="Short name",
        help_text="Used in addresses and by the API: letters, digits, - and _.",
    )


class MemberForm(forms.Form):
    """A person who has an account, and their role."""

    username = forms.CharField(max_length=150, label="User name")
    role = forms.ChoiceField(
        choices=[(role.value, words) for role, words in _ROLES.items()]
    )


class KeyForm(forms.Form):
    """What a new key is for: a project of the caller, and at most the caller's rights in it."""

    name = forms.CharField(max_length=100)
    project = forms.ModelChoiceField(
        Project.objects.none(), to_field_name="slug", empty_label=None
    )
    scopes = forms.MultipleChoiceField(
        choices=[(right.value, right.value) for right in Right],
        widget=forms.CheckboxSelectMultiple,
        initial=[Right.READ.value, Right.PROPOSE.value],
    )

    def __init__(self, caller: Caller, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["project"].queryset = visible_projects(caller)  # type: ignore[attr-defined]


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """The sign-in page: name and password, for those who have no link at hand."""
    form = SignInForm(request.POST or None)
    status = 200
    if request.method == "POST" and form.is_valid():
        try:
            user = services.sign_in(
                request,
                **form.cleaned_data,
                address=request.META.get("REMOTE_ADDR", ""),
                browser=request.COOKIES.get(_KNOWN_BROWSER, ""),
            )
        except DomainError as refusal:
            form.add_error(None, refusal.message)
            status = refusal.status
        else:
            return _let_in(request, user)
    return _sign_in_page(request, form, status)


@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_with_link(request: HttpRequest, token: str) -> HttpResponse:
    """The page of a one-time link, whose button signs in.

    What only looks at a link, such as the preview of a chat or a mail's scanner, spends none. One
    that is spent leads on who is signed in already.
    """
    try:
        if request.method == "POST":
            return _let_in(request, services.redeem_sign_in_link(token))
        user = services.open_sign_in_link(token)
    except Unauthenticated as refusal:
        if request.user.is_authenticated:
            return redirect("/")
        form = SignInForm({})
        form.errors.clear()
        form.add_error(
            None,
            f"{refusal.message} The server prints a new one each time it starts; "
            "“manage.py sign_in_link” prints one, too.",
        )
        return _sign_in_page(request, form, 410)
    return render(request, "accounts/sign_in_link.html", {"name": str(user)})


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("accounts:sign_in")


@require_http_methods(["GET", "HEAD", "POST"])
def keys(request: HttpRequest) -> HttpResponse:
    """The keys that the caller may see, and the making of one: its text is shown this once."""
    caller = caller_of(request)
    form = KeyForm(caller, request.POST or None)
    new_key = None
    if request.method == "POST" and form.is_valid() and isinstance(request.user, User):
        new_key = services.create_key(
            request.user,
            form.cleaned_data["project"],
            name=form.cleaned_data["name"],
            scopes=frozenset(Right(scope) for scope in form.cleaned_data["scopes"]),
        )
        form = KeyForm(caller)
    context = {"form": form, "keys": list_keys(caller), "new_key": new_key}
    status = 422 if form.errors else 200
    return render(request, "accounts/keys.html", context, status=status)


@require_POST
def revoke_key(request: HttpRequest, key_id: int) -> HttpResponse:
    services.revoke_key(caller_of(request), key_id)
    return redirect("accounts:keys")


@require_http_methods(["GET", "HEAD", "POST"])
def projects(request: HttpRequest) -> HttpResponse:
    """The projects that one is a member of, and the making of one."""
    caller = caller_of(request)
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = services.create_project(caller, **form.cleaned_data)
        except DomainError as refusal:
            form.add_error(_field(refusal, form), refusal.message)
        else:
            messages.success(request, f"Created {made.name}.")
            return redirect("accounts:project", made.slug)
    user = caller.user_id
    found = visible_projects(caller).annotate(
        members_count=Count("memberships"),
        role=Max("memberships__role", filter=Q(memberships__user=user)),
    )
    context = {"form": form, "projects": found}
    status = 422 if form.errors else 200
    return render(request, "accounts/projects.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def project(request: HttpRequest, slug: str) -> HttpResponse:
    """A project's members; who may administer it adds one, or gives one another role."""
    caller = caller_of(request)
    found = get_project(caller, slug)
    form = MemberForm(request.POST or None, initial={"role": ProjectRole.EDITOR})
    if request.method == "POST" and form.is_valid():
        name, role = form.cleaned_data["username"], form.cleaned_data["role"]
        require(caller, Right.ADMIN, found.pk)
        try:
            user = user_named(name)
            services.set_member(caller, found, user, ProjectRole(role))
        except DomainError as refusal:
            form.add_error(_field(refusal, form), refusal.message)
        else:
            messages.success(request, f"{user} is now {_ARTICLES[role]} {role}.")
            return redirect("accounts:project", slug)
    context = {
        "project": found,
        "members": list_members(found, limit=MOST).items,
        "form": form,
        "roles": list(ProjectRole),
        "may_administer": caller.may(Right.ADMIN, found.pk),
    }
    status = 422 if form.errors else 200
    return render(request, "accounts/project.html", context, status=status)


@require_POST
def remove_member(request: HttpRequest, slug: str) -> HttpResponse:
    """Remove a member, or leave a project; the last owner stays."""
    caller = caller_of(request)
    found = get_project(caller, slug)
    user = get_member(found, request.POST.get("username", ""))
    try:
        services.set_member(caller, found, user, None)
    except Conflict as refusal:
        messages.error(request, refusal.message)
        return redirect("accounts:project", slug)
    if user.pk == caller.user_id:
        messages.success(request, f"You left {found.name}.")
        return redirect("accounts:projects")
    messages.success(request, f"{user} is no longer a member.")
    return redirect("accounts:project", slug)


def _field(refusal: DomainError, form: forms.Form) -> str | None:
    """The field in which was typed what is refused, if it is one."""
    at = str(refusal.at[-1]) if refusal.at else ""
    return at if at in form.fields else None


def _let_in(request: HttpRequest, user: User) -> HttpResponse:
    login(request, user, backend=_BACKEND)
    target = request.POST.get("next") or request.GET.get("next") or "/"
    hosts = {request.get_host()}
    safe = url_has_allowed_host_and_scheme(target, hosts, request.is_secure())
    answer = redirect(target if safe else "/")
    answer.set_cookie(
        _KNOWN_BROWSER,
        services.known_browser(user),
        max_age=services.KNOWN_FOR,
        path="/sign-in",
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    return answer


def _sign_in_page(request: HttpRequest, form: SignInForm, status: int) -> HttpResponse:
    target = request.POST.get("next") or request.GET.get("next") or ""
    context = {"form": form, "next": target}
    return render(request, "accounts/sign_in.html", context, status=status)
