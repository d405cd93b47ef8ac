"""The pages of projects and their members."""

from django import forms
from django.contrib import messages
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from contextstudio.accounts import services
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import (
    Conflict,
    DomainError,
    Invalid,
    NotFound,
)
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.domain.storable import storable
from contextstudio.accounts.invitations import LIFETIME, list_invitations
from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import (
    get_member,
    get_project,
    list_members,
    require,
    user_named,
    visible_projects,
)

from .forms import field_of
from .sent_once import new_form_id

SHOWN_MEMBERS = 50
_MAX_LENGTH = 150
"""The longest search text in characters: no name is longer."""
_ROLES = {
    ProjectRole.VIEWER: "Viewer: reads",
    ProjectRole.REVIEWER: "Reviewer: also proposes and reviews",
    ProjectRole.EDITOR: "Editor: also edits and imports",
    ProjectRole.OWNER: "Owner: also manages members and keys",
}
_ARTICLES = {"editor": "an", "owner": "an", "viewer": "a", "reviewer": "a"}


class ProjectForm(forms.Form):
    """A new project."""

    name = forms.CharField(max_length=150)
    slug = forms.CharField(
        max_length=64,
        label="Short name",
        help_text="Used in addresses and by the API: letters, digits, - and _.",
    )


class ProjectNameForm(forms.Form):
    """Another name of a project."""

    name = forms.CharField(max_length=150)


class MemberForm(forms.Form):
    """A person who has an account, and their role."""

    username = forms.CharField(max_length=150, label="Username")
    role = forms.ChoiceField(
        choices=[(role.value, words) for role, words in _ROLES.items()]
    )


class InvitationForm(forms.Form):
    """Whom a link is for, and their role."""

    note = forms.CharField(
        max_length=100,
        required=False,
        label="For",
        help_text="A name to know the link by. It is not shown to them.",
    )
    role = forms.ChoiceField(
        choices=[(role.value, words) for role, words in _ROLES.items()],
        initial=ProjectRole.EDITOR.value,
    )


@require_http_methods(["GET", "HEAD", "POST"])
def projects(request: HttpRequest) -> HttpResponse:
    """The projects of the caller, and the form for a new one."""
    caller = caller_of(request)
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = services.create_project(caller, **form.cleaned_data)
        except DomainError as refusal:
            form.add_error(field_of(refusal, form), refusal.message)
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
    """A project's members; administrators can add one, or change a role."""
    caller = caller_of(request)
    found = get_project(caller, slug)
    form = MemberForm(request.POST or None, initial={"role": ProjectRole.EDITOR})
    if request.method == "POST" and form.is_valid():
        name, role = form.cleaned_data["username"], form.cleaned_data["role"]
        require(caller, Right.ADMIN, found.pk)
        changes = "change" in request.POST
        try:
            user = _change_member(
                caller, found, name, ProjectRole(role), changes=changes
            )
        except DomainError as refusal:
            if changes:
                return _refused(request, slug, refusal)
            told = refusal.message
            if refusal.code == "member":
                told += " Change it in the list of members above."
            form.add_error(field_of(refusal, form), told)
        else:
            messages.success(request, f"{user} is now {_ARTICLES[role]} {role}.")
            return _back(request, slug)
    return project_page(request, caller, found, form=form)


def _change_member(
    caller: Caller, found: Project, name: str, role: ProjectRole, *, changes: bool
) -> User:
    """Change a member's role, or add somebody: each refuses what the other is for.

    A person removed since the page was drawn is not added again by a role change.
    """
    if changes:
        user = get_member(found, name)
        services.set_member(caller, found, user, role)
    else:
        user = user_named(name)
        services.add_member(caller, found, user, role)
    return user


def project_page(
    request: HttpRequest,
    caller: Caller,
    found: Project,
    *,
    form: MemberForm | None = None,
    invitation: InvitationForm | None = None,
    name: ProjectNameForm | None = None,
    link: str = "",
) -> HttpResponse:
    """A project's members and invitations; a new link is shown only this once."""
    may_administer = caller.may(Right.ADMIN, found.pk)
    is_wrong = any(one is not None and one.errors for one in (form, invitation, name))
    query = storable(request.GET.get("q", "").strip()[:_MAX_LENGTH])
    cursor = request.GET.get("cursor", "")
    members = list_members(found, words=query, cursor=cursor, limit=SHOWN_MEMBERS)
    context = {
        "project": found,
        "members": members.items,
        "next_cursor": members.next_cursor,
        "query": query,
        "is_first": not cursor,
        "part": f"?{part}" if (part := request.GET.urlencode()) else "",
        "form": form or MemberForm(initial={"role": ProjectRole.EDITOR}),
        "roles": list(ProjectRole),
        "may_administer": may_administer,
        "invitations": list_invitations(found) if may_administer else [],
        "invitation_form": invitation or InvitationForm(auto_id="invite_%s"),
        "form_id": new_form_id(),
        "name_form": name
        or ProjectNameForm(initial={"name": found.name}, auto_id="project_%s"),
        "sessions_count": services.project_sessions(found) if may_administer else 0,
        "link": link,
        "days": LIFETIME.days,
    }
    status = 422 if is_wrong else 200
    return render(request, "accounts/project.html", context, status=status)


@require_POST
def remove_member(request: HttpRequest, slug: str) -> HttpResponse:
    """Remove a member, or leave a project; the last owner stays."""
    caller = caller_of(request)
    found = get_project(caller, slug)
    try:
        user = get_member(found, request.POST.get("username", ""))
        services.set_member(caller, found, user, None)
    except (Conflict, NotFound) as refusal:
        return _refused(request, slug, refusal)
    if user.pk == caller.user_id:
        messages.success(request, f"You left {found.name}.")
        return redirect("accounts:projects")
    messages.success(request, f"{user} is no longer a member.")
    return _back(request, slug)


@require_POST
def rename_project(request: HttpRequest, slug: str) -> HttpResponse:
    """Change a project's name."""
    caller = caller_of(request)
    found = get_project(caller, slug, Right.ADMIN)
    form = ProjectNameForm(request.POST, auto_id="project_%s")
    if form.is_valid():
        try:
            services.rename_project(caller, found, form.cleaned_data["name"])
        except Invalid as refusal:
            form.add_error(field_of(refusal, form), refusal.message)
    if form.errors:
        return project_page(request, caller, found, name=form)
    messages.success(request, f"The project is now called {found.name}.")
    return redirect("accounts:project", slug)


@require_POST
def delete_project(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete a project that has no sessions."""
    caller = caller_of(request)
    found = get_project(caller, slug, Right.ADMIN)
    try:
        services.delete_project(caller, found)
    except Conflict as refusal:
        return _refused(request, slug, refusal)
    messages.success(request, f"Deleted the project {found.name}.")
    return redirect("accounts:projects")


def _refused(request: HttpRequest, slug: str, refusal: DomainError) -> HttpResponse:
    """The current members, with why changing one was refused."""
    messages.error(request, refusal.message)
    return _back(request, slug)


def _back(request: HttpRequest, slug: str) -> HttpResponse:
    """Redirect to the part of the list where something was changed."""
    page, part = reverse("accounts:project", args=[slug]), request.GET.urlencode()
    return redirect(f"{page}?{part}" if part else page)
