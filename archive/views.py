"""The page of a project's memos, which also recalls what a reference names."""

import uuid
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain import errors
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from operations.context.services import ContextQuery, assemble_session
from operations.form_fields import LongTextField, TagsField, sendable
from threads.models import Session
from threads.store.selectors import get_session

from .domain.memo import ReadableMemo
from .memos import (
    MAX_ANSWERED,
    MAX_LENGTH,
    delete_memo,
    retrieve_memos,
    save_memo,
    update_memo,
    why_none,
)
from .recalling import Recalled, look_up

_MAX_REFERENCE_LENGTH = 500
_MAX_QUERY_LENGTH = 1000
_MAX_TOKENS = 4000
"""Recalled text is cut here; the tool returns more on request."""
MAX_TAGS = 20
MAX_TAG_LENGTH = 100


class MemoForm(forms.Form):
    """Something worth knowing in every session of the project."""

    content = LongTextField(
        rows=5,
        max_length=MAX_LENGTH,
        label="What later sessions need to know",
        help_text="One fact that makes sense without this conversation.",
    )
    tags = TagsField(
        required=False,
        label="Tags",
        help_text="Separate tags with spaces, for example gotcha or arch-decision.",
    )

    def clean_tags(self) -> list[str]:
        """The tags. Raises ValidationError for too many, or one that is too long."""
        tags: list[str] = self.cleaned_data["tags"]
        if any(len(tag) > MAX_TAG_LENGTH for tag in tags):
            raise forms.ValidationError(
                f"A tag has at most {MAX_TAG_LENGTH} characters."
            )
        if len(tags) > MAX_TAGS:
            raise forms.ValidationError(f"A memo has at most {MAX_TAGS} tags.")
        return tags


class MemoLine(NamedTuple):
    """A memo in the list, and the form that changes it."""

    memo: ReadableMemo
    form: MemoForm


@require_http_methods(["GET", "HEAD", "POST"])
def memos(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """The memos that match `q` and `tag`, and what `ref` names; POST saves a memo."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    form = MemoForm(request.POST if request.method == "POST" else None)
    if request.method != "POST":
        return _shown(request, caller, session, form)
    if not form.is_valid():
        return _shown(request, caller, session, form, status=422)
    content, tags = form.cleaned_data["content"], form.cleaned_data["tags"]
    try:
        save_memo(caller, content, tags, session_id=session.pk)
    except errors.Invalid as error:
        form.add_error("content", error.message)
        return _shown(request, caller, session, form, status=422)
    messages.success(request, "Memo saved.")
    return redirect("archive:memos", session.pk)


@require_POST
def memo(
    request: HttpRequest, session_id: uuid.UUID, memo_id: uuid.UUID
) -> HttpResponseBase:
    """Change a memo, or delete it if the form's `action` is `delete`."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    if request.POST.get("action") == "delete":
        delete_memo(caller, memo_id)
        messages.success(request, "Memo deleted.")
        return redirect("archive:memos", session.pk)
    form = MemoForm(request.POST, auto_id=_ids_of(memo_id))
    if form.is_valid():
        fields = form.cleaned_data
        try:
            update_memo(caller, memo_id, content=fields["content"], tags=fields["tags"])
        except errors.Invalid as error:
            form.add_error("content", error.message)
    if form.errors:
        edits = {str(memo_id): form}
        return _shown(request, caller, session, MemoForm(), edits=edits, status=422)
    messages.success(request, "Memo changed.")
    return redirect("archive:memos", session.pk)


def _shown(
    request: HttpRequest,
    caller: Caller,
    session: Session,
    form: MemoForm,
    *,
    edits: Mapping[str, MemoForm] = MappingProxyType({}),
    status: int = 200,
) -> HttpResponse:
    query = request.GET.get("q", "")[:_MAX_QUERY_LENGTH]
    tag = request.GET.get("tag", "")[:100]
    # Without the session, so that looking doesn't make memos a layer of its context.
    found = retrieve_memos(
        caller,
        tags=[tag] if tag else (),
        query=query,
        project=session.project.slug,
    )
    recalled, refused = _recalled(caller, session, request.GET)
    layers = assemble_session(session, ContextQuery()).assembly.layers
    injected = [one for layer in layers for one in layer.injected]
    context = {
        "injected": injected,
        "sent": {one.id for one in injected},
        "why_none": why_none(session),
        "session": session,
        "memos": [MemoLine(one, edits.get(one.id) or _edit_form(one)) for one in found],
        "most": MAX_ANSWERED,
        "query": query,
        "tag": tag,
        "reference": request.GET.get("ref", "")[:_MAX_REFERENCE_LENGTH],
        "lines": request.GET.get("lines", "")[:30],
        "recalled": recalled,
        "refused": refused,
        "form": form,
        "may_edit": caller.may(Right.EDIT, session.project_id),
    }
    return render(request, "archive/memos.html", context, status=status)


def _edit_form(memo: ReadableMemo) -> MemoForm:
    initial = {"content": sendable(memo.content), "tags": memo.tags}
    return MemoForm(initial=initial, auto_id=_ids_of(memo.id))


def _ids_of(memo_id: object) -> str:
    """The `auto_id` of a memo's form, as the page has one form per memo."""
    return f"id_{memo_id}_%s"


def _recalled(
    caller: Caller, session: Session, fields: QueryDict
) -> tuple[Recalled | None, errors.DomainError | None]:
    """What `ref` names, or the error if it names nothing; both None without `ref`."""
    reference = fields.get("ref", "").strip()[:_MAX_REFERENCE_LENGTH]
    if not reference:
        return None, None
    lines = fields.get("lines", "")[:30]
    try:
        found = look_up(
            caller,
            reference,
            lines=lines,
            max_tokens=_MAX_TOKENS,
            session_id=session.pk,
        )
        return found, None
    except (errors.NotFound, errors.Invalid, errors.Conflict) as error:
        return None, error
