"""The dialog to replace and redact text: lists the matches to choose from, and records them."""

import json
import uuid
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Conflict, DomainError, Invalid
from contextstudio.templatetags.look import messages, tokens_saved
from operations.domain.text.pattern import FLOOR, quoted
from operations.domain.text.resolution import patterns_refusal
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import entry_key
from operations.domain.tree.span import Span, fingerprint
from operations.editor.forms import TextForm
from operations.edits.arguments import TextArguments
from operations.find_replace import services
from operations.find_replace.services import DryRun, SpanMatch
from operations.log.selectors import load_thread
from operations.messages.names import name_of
from operations.requests import fields_of
from threads.models import Session
from threads.rendering.hidden import visible
from threads.store.selectors import get_session

from .patches import answer, recording
from .requests import proposes

TEMPLATE = "operations/editor/dialogs/find_replace.html"
MAX_LISTED = 200
"""Most matches that one dialog lists; recorded ones make room for the next."""


@require_http_methods(["GET", "HEAD", "POST"])
def dialog(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The dialog; `start` is the selected text. Short text is more likely a secret to redact.

    Long text may come by POST.
    """
    session = get_session(caller_of(request), session_id)
    words = fields_of(request).get("start", "").strip()
    kind = "redact" if 0 < len(words) < FLOOR else "replace"
    form = TextForm(initial={"type": kind, "start": words})
    return _shown(request, session, form)


@recording
def texts(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Search for the text, apply a suggestion, or record the chosen matches."""
    session = get_session(caller_of(request), session_id)
    if "suggestion" in request.POST:
        return _suggested(request, session)
    form = TextForm(request.POST)
    if not form.is_valid():
        return _shown(request, session, form, status=422)
    asks_again = request.POST.get("step") == "find"
    if asks_again or request.POST.get("listed") != _question(form):
        return _found(request, session, form)
    spans = request.POST.getlist("span")
    if not spans:
        form.add_error(None, "Select at least one match.")
        return _found(request, session, form, chosen=spans, status=422)
    try:
        chosen = _chosen(session, form, spans)
        stage = bool(request.POST.get("stage"))
        return answer(
            request,
            services.change_by_span(
                caller_of(request), session_id, chosen, stage=stage
            ),
        )
    except DomainError as error:
        form.add_error(None, error.message)
        return _found(request, session, form, chosen=spans, status=error.status)


def _chosen(session: Session, form: TextForm, values: Sequence[str]) -> TextArguments:
    """The arguments with the chosen spans. Raises Conflict if one no longer matches."""
    found = services.dry_run(session, form.arguments, partly=True)
    spans = {_value(one.span): one.span for one in found.matches if one.span}
    if not spans.keys() >= set(values):
        raise Conflict("The thread has changed; look at the matches again.")
    return form.chosen(spans[value] for value in values)


def _value(span: Span) -> str:
    """The value that identifies a match in the form: its place, and the hash of its text."""
    return f"{span.key} {span.part} {span.start} {span.end} {span.sha256}"


def _question(form: TextForm) -> str:
    """A fingerprint of the search; matches of another search must be shown before they count."""
    asked = ("type", "start", "end", "regex", "replacement", "include_folded")
    return fingerprint(json.dumps([form.cleaned_data[name] for name in asked]))


def _suggested(request: HttpRequest, session: Session) -> HttpResponse:
    """The dialog filled in with a suggestion, and its matches."""
    found = services.suggestions(session)
    number = request.POST["suggestion"]
    if not number.isdecimal() or int(number) >= len(found):
        return _shown(request, session, TextForm())
    pattern = found[int(number)].pattern
    form = TextForm(
        {
            "type": "replace",
            "start": pattern.start,
            "end": pattern.end or "",
            "replacement": pattern.replacement,
        }
    )
    show = _found if form.is_valid() else _shown
    return show(request, session, form)


def _found(
    request: HttpRequest,
    session: Session,
    form: TextForm,
    *,
    chosen: Sequence[str] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The dialog with the current matches; `chosen` are those to select, None selects all."""
    try:
        found = services.dry_run(session, form.arguments, partly=True)
    except Invalid as error:
        form.refuse(Invalid(error.message, at=["start"]))
        return _shown(request, session, form, status=422)
    if not found.matches:
        form.refuse(patterns_refusal(found.faults), _nothing_found(form, found))
        return _shown(request, session, form, status=422)
    matches = _matches(load_thread(session), found, chosen)
    extra = {"matches": matches, "listed": _question(form)}
    return _shown(request, session, form, extra, status=status)


def _nothing_found(form: TextForm, found: DryRun) -> str:
    """The message for a pattern without matches; empty if something else is wrong."""
    if any(fault.code != "not_found" for fault in found.faults):
        return ""
    alike = [
        visible(quoted(words)) for fault in found.faults for words in fault.similar
    ]
    said = ["Nothing in the thread matches."]
    if not form.cleaned_data["include_folded"]:
        said.append("Folds weren't searched.")
    if alike:
        said.append(f"Similar: {', '.join(alike)}.")
    return " ".join(said)


def _shown(
    request: HttpRequest,
    session: Session,
    form: TextForm,
    extra: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """The dialog; without matches it shows suggestions."""
    context = {
        "form": form,
        "action": reverse("operations:texts", args=[session.pk]),
        "word": form["type"].value() or "replace",
        "proposes": proposes(request, session),
        **(extra or {"suggestions": services.suggestions(session)}),
    }
    return render(request, TEMPLATE, context, status=status)


def _matches(
    thread: Thread, looked: DryRun, chosen: Sequence[str] | None
) -> dict[str, object]:
    count = len(looked.matches)
    wanted = None if chosen is None else set(chosen)
    listed = [
        _match(thread, one, wanted, is_folded=one.match.key not in looked.shown)
        for one in _listed(looked.matches)
    ]
    free = sum(bool(one["value"]) for one in listed)
    holders = len({one.match.key for one in looked.matches})
    matches = f"{count:,} match{'es' if count > 1 else ''}"
    first = "The first " if looked.cut else ""
    saved = tokens_saved(looked.saved)
    return {
        "listed": listed,
        "sentence": f"{first}{matches} in {messages(holders)}: {saved}",
        "more": sum(bool(one.span) for one in looked.matches) - free,
        "cut": looked.cut,
        "free": free,
    }


def _listed(matches: Sequence[SpanMatch]) -> list[SpanMatch]:
    """The matches that one dialog lists, in order; those that can be changed take precedence.

    A replacement may contain the text again, and a proposal leaves it in the thread, so otherwise
    the same first matches would be listed again and again.
    """
    places = sorted(range(len(matches)), key=lambda place: not matches[place].span)
    return [matches[place] for place in sorted(places[:MAX_LISTED])]


def _match(
    thread: Thread, found: SpanMatch, wanted: set[str] | None, *, is_folded: bool
) -> dict[str, Any]:
    match, span = found.match, found.span
    before, text, behind = map(visible, match.excerpt)
    why = ""
    if match.holders:
        names = (name_of(thread, entry_key(number)) for number in match.holders)
        why = f"already changed by {', '.join(names)}"
    value = ""
    if span and not why:
        value = _value(span)
    return {
        "name": name_of(thread, match.key),
        "before": before,
        "text": text,
        "behind": behind,
        "value": value,
        "chosen": bool(value) and (wanted is None or value in wanted),
        "saves": "in a fold" if is_folded else tokens_saved(span.saved) if span else "",
        "why": why,
    }
