"""The pages of keys: the list, and one key with its settings, rotation and requests."""

from collections.abc import Set
from datetime import UTC, timedelta
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.keys import services
from contextstudio.accounts.keys.request_log import MAX_KEPT, RETENTION, titles_of
from contextstudio.accounts.keys.services import NewKey
from contextstudio.accounts.models import ApiKey, Project, User
from contextstudio.accounts.selectors import (
    get_key,
    list_requests,
    newest_keys,
    visible_projects,
)

from .forms import field_of
from .sent_once import new_form_id, note_sent, was_sent

_CHOICES = (
    (Right.READ.value, "Read sessions, contexts and memos"),
    (Right.PROPOSE.value, "Propose operations"),
    (Right.OWN_SESSION.value, "Keep sessions of its own, propose the rest"),
    (Right.EDIT.value, "Edit any session"),
    (Right.REVIEW.value, "Review proposals"),
    (Right.ADMIN.value, "Administer: purge, members, policy"),
)
_USUAL = (Right.READ.value, Right.PROPOSE.value)
_OLD_SECRET_WORKS = timedelta(days=1)
"""The default in the rotation form."""


class _Moment(forms.DateTimeField):
    """A time in UTC, in the format of a browser's own field."""

    def __init__(self, **options: Any) -> None:
        kind = {"type": "datetime-local"}
        widget = forms.DateTimeInput(kind, format="%Y-%m-%dT%H:%M")
        super().__init__(required=False, widget=widget, **options)


class _Settings(forms.Form):
    name = forms.CharField(max_length=100)
    scopes = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Permissions",
        help_text="An agent that is connected through the proxy needs to keep sessions of its "
        "own. For MCP, reading and proposing are enough.",
    )
    expires_at = _Moment(label="Expires (UTC)")
    requests_per_minute = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=services.MAX_REQUESTS,
        label="Requests per minute",
    )

    def __init__(self, offered: Set[Right], *args: Any, **options: Any) -> None:
        """`offered`: the rights that may be chosen."""
        super().__init__(*args, **options)
        scopes = cast(forms.MultipleChoiceField, self.fields["scopes"])
        scopes.choices = [one for one in _CHOICES if one[0] in offered]
        scopes.initial = [right for right in _USUAL if right in offered]
        if Right.OWN_SESSION not in offered:
            scopes.help_text = ""
        most = settings.REQUESTS_PER_MINUTE
        usual = f"{most:,} requests per minute" if most else "any number of requests"
        self.fields["requests_per_minute"].help_text = f"Unless set: {usual}."

    @property
    def chosen(self) -> dict[str, Any]:
        """The chosen values as the services take them."""
        fields = self.cleaned_data
        return {
            "name": fields["name"],
            "scopes": frozenset(Right(scope) for scope in fields["scopes"]),
            "expires_at": fields["expires_at"],
            "requests_per_minute": fields["requests_per_minute"],
        }


class KeySettingsForm(_Settings):
    """The settings of a key, with the further projects from which it recalls."""

    recalls = forms.ModelMultipleChoiceField(
        Project.objects.none(),
        to_field_name="slug",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Also recall from",
        help_text="Projects whose memos it finds and whose messages it recalls; nothing else.",
    )
    field_order = ("name", "project", "scopes", "recalls")

    def __init__(
        self,
        projects: QuerySet[Project],
        offered: Set[Right],
        *args: Any,
        **options: Any,
    ) -> None:
        """`projects` and `offered`: the projects and the rights that may be chosen."""
        super().__init__(offered, *args, **options)
        if projects:
            self.fields["recalls"].queryset = projects  # type: ignore[attr-defined]
        else:
            del self.fields["recalls"]

    @property
    def chosen(self) -> dict[str, Any]:
        """The chosen values as the services take them."""
        return super().chosen | {"recalls": list(self.cleaned_data.get("recalls", ()))}


class KeyForm(KeySettingsForm):
    """A new key: for a project of the caller, with at most the caller's rights in it."""

    project = forms.ModelChoiceField(
        Project.objects.none(), to_field_name="slug", empty_label=None
    )

    def __init__(self, caller: Caller, *args: Any, **options: Any) -> None:
        projects = visible_projects(caller)
        further = projects if len(projects) > 1 else Project.objects.none()
        offered = {Right.READ}.union(*(_rights_in(caller, one.pk) for one in projects))
        super().__init__(further, offered, *args, **options)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]


class RotationForm(forms.Form):
    """How long the current secret works beside the new one."""

    old_until = _Moment(
        label="The old secret works until (UTC)",
        help_text="Leave it empty to end the old secret at once.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
def keys(request: HttpRequest) -> HttpResponse:
    """The keys that the caller may see, and the form for a new one, shown once when created."""
    caller = caller_of(request)
    if request.method == "POST" and was_sent(request):
        return redirect("accounts:keys")
    form = KeyForm(caller, request.POST or None)
    new_key = None
    if request.method == "POST" and form.is_valid() and isinstance(request.user, User):
        try:
            new_key = services.create_key(
                request.user,
                form.cleaned_data["project"],
                **form.chosen,
            )
        except DomainError as refusal:
            form.add_error(field_of(refusal, form), refusal.message)
        else:
            note_sent(request)
            form = KeyForm(caller)
    # A new key is on the first page.
    before = _number_of(request.GET.get("before", "")) if new_key is None else None
    listed, are_older = newest_keys(caller, before)
    context = {
        "form": form,
        "form_id": new_form_id(),
        "keys": listed,
        "is_newest": before is None,
        "older": listed[-1].pk if are_older else None,
        "new_key": new_key,
        "now": timezone.now(),
        "has_project": visible_projects(caller).exists(),
    }
    status = 422 if form.errors else 200
    return render(request, "accounts/keys.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def key(request: HttpRequest, key_id: int) -> HttpResponse:
    """A key: its settings, which a POST changes, its rotation and its requests."""
    caller = caller_of(request)
    found = get_key(caller, key_id)
    if request.method != "POST":
        return _page(request, caller, found)
    form = _settings_form(caller, found, request.POST)
    if form.is_valid():
        try:
            services.change_key(caller, key_id, **_chosen(form, found))
        except DomainError as refusal:
            form.add_error(field_of(refusal, form), refusal.message)
        else:
            messages.success(request, "Key changed.")
            return redirect("accounts:key", key_id)
    return _page(request, caller, found, form=form)


@require_POST
def rotate_key(request: HttpRequest, key_id: int) -> HttpResponse:
    """Generate a new secret, which is shown only this once."""
    caller = caller_of(request)
    found = get_key(caller, key_id)
    if was_sent(request):
        return redirect("accounts:key", key_id)
    form = RotationForm(request.POST)
    if not form.is_valid():
        return _page(request, caller, found, rotation=form)
    until = form.cleaned_data["old_until"]
    try:
        rotated = services.rotate_key(caller, key_id, old_until=until)
    except DomainError as refusal:
        if refusal.status == 403:
            raise
        form.add_error(field_of(refusal, form), refusal.message)
        return _page(request, caller, found, rotation=form)
    note_sent(request)
    return _page(request, caller, rotated.row, new_key=rotated)


@require_POST
def revoke_key(request: HttpRequest, key_id: int) -> HttpResponse:
    """Revoke a key at once."""
    services.revoke_key(caller_of(request), key_id)
    messages.success(request, "Key revoked.")
    return redirect("accounts:keys")


def _chosen(form: KeySettingsForm, found: ApiKey) -> dict[str, Any]:
    """The chosen values; an expiry that is unchanged to the minute keeps its exact value.

    Further projects that the caller doesn't see stay.
    """
    chosen, ends = form.chosen, found.expires_at
    if ends is not None and chosen["expires_at"] == ends.replace(
        second=0, microsecond=0
    ):
        chosen["expires_at"] = ends
    offered = form.fields["recalls"].queryset if "recalls" in form.fields else ()  # type: ignore[attr-defined]
    unseen = [one for one in found.recalls.all() if one not in offered]
    return chosen | {"recalls": [*chosen["recalls"], *unseen]}


def _page(
    request: HttpRequest,
    caller: Caller,
    found: ApiKey,
    *,
    form: KeySettingsForm | None = None,
    rotation: RotationForm | None = None,
    new_key: NewKey | None = None,
) -> HttpResponse:
    before = _number_of(request.GET.get("before", ""))
    shown, are_older = list_requests(found, before)
    titles = titles_of(caller, shown)
    now = timezone.now()
    suggested = (now + _OLD_SECRET_WORKS).astimezone(UTC)
    is_wrong = any(one is not None and one.errors for one in (form, rotation))
    context = {
        "key": found,
        "form": form or _settings_form(caller, found, initial=_settings_of(found)),
        "form_id": new_form_id(),
        "rotation": rotation or RotationForm(initial={"old_until": suggested}),
        "may_rotate": found.maker_id == caller.user_id,
        "recalls": found.recalls.all(),
        "new_key": new_key,
        "requests": [
            (one, titles.get(one.session_id, "") if one.session_id else "")
            for one in shown
        ],
        "is_newest": before is None,
        "older": shown[-1].pk if are_older else None,
        "most_kept": MAX_KEPT,
        "kept_days": RETENTION.days,
        "now": now,
    }
    status = 422 if is_wrong else 200
    return render(request, "accounts/key.html", context, status=status)


def _number_of(text: str) -> int | None:
    """A row's number; None if it can't be one."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def _rights_in(caller: Caller, project_id: int) -> frozenset[Right]:
    return caller.rights.get(project_id, frozenset())


def _settings_form(
    caller: Caller, key: ApiKey, *args: Any, **options: Any
) -> KeySettingsForm:
    """The settings form of a key: its maker may add rights, others may only remove some."""
    offered = {Right(scope) for scope in key.scopes}
    if key.maker_id == caller.user_id:
        offered |= _rights_in(caller, key.project_id)
    return KeySettingsForm(_recallable(caller, key), offered, *args, **options)


def _recallable(caller: Caller, key: ApiKey) -> QuerySet[Project]:
    """The projects that a key may recall from: its maker may add some, others only remove."""
    projects = visible_projects(caller).exclude(pk=key.project_id)
    if key.maker_id == caller.user_id:
        return projects
    return projects.filter(pk__in=key.recalls.values("pk"))


def _settings_of(key: ApiKey) -> dict[str, Any]:
    names = ("name", "scopes", "expires_at", "requests_per_minute")
    settings = {name: getattr(key, name) for name in names}
    return settings | {"recalls": [one.slug for one in key.recalls.all()]}
