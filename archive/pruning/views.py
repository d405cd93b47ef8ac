"""The page of a prune run before it is applied: what becomes of each message, and why."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from archive.domain.pruning.classes import PruneClass
from archive.domain.pruning.plan import PruneItem
from archive.entries.services import Regret, regret_of
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.domain.rights import Right
from operations.context.services import MAX_UNASKED
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.form_fields import ListField
from operations.ledger.services import BundleTrial
from operations.ledger.views import line_of, note_of
from operations.log.selectors import load_thread
from operations.messages.names import Named, name_of, named
from operations.messages.relevance import relevance_at
from threads.models import Session
from threads.search import meaning
from threads.search.relevance import has_relevance
from threads.store.selectors import get_session

from .automatic import trigger_of
from .services import Pruned, PruneQuery, dry_run, prune, rules_of

MAX_SHOWN = 500
"""How many messages are listed; the figures count all of them."""
RULES = {
    "superseded": "Outdated views",
    "error": "Old errors",
    "result": "Old tool results",
    "words": "Long answers",
}
"""Labels of the rules."""
_NUMBERS = (
    *("keep_last_n", "condense_after_n", "remove_errors_after"),
    *("condense_above", "condense_calls_above"),
)
_LISTS = ("protect_tools", "protect_paths", "protect_tags")
_RELEVANT = "keep_relevant_above"


class PruneForm(forms.Form):
    """The rules of one run, and how short the thread should become."""

    target_tokens = forms.IntegerField(
        label="Fit into this many tokens",
        required=False,
        min_value=0,
        max_value=10**9,
        help_text="Prunes only as much as needed, the least harmful first. If empty, everything"
        " that the rules allow.",
    )
    keep_last_n = forms.IntegerField(
        label="Recent messages to keep", min_value=0, max_value=10**9
    )
    condense_after_n = forms.IntegerField(
        label="Condense after this many messages", min_value=0, max_value=10**9
    )
    remove_errors_after = forms.IntegerField(
        label="Drop errors after this many messages", min_value=0, max_value=10**9
    )
    condense_above = forms.IntegerField(
        label="Condense above this many tokens", min_value=0, max_value=10**9
    )
    condense_calls_above = forms.IntegerField(
        label="Condense calls above this many tokens",
        min_value=0,
        max_value=10**9,
        help_text="Old calls keep their tool and their path; long arguments are archived.",
    )
    protect_tools = ListField(label="Tools to keep", required=False)
    protect_paths = ListField(label="Paths to keep", required=False)
    protect_tags = ListField(label="Tags to keep", required=False)
    keep_relevant_above = forms.FloatField(
        label="Keep what is relevant above",
        required=False,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="From 0 to 1, to the session's objective. If empty, no message stays for that.",
    )
    head = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def query(self) -> PruneQuery:
        """The form's data as the service takes it."""
        given = self.cleaned_data
        names = (*_NUMBERS, *_LISTS, *([_RELEVANT] if meaning.is_on() else []))
        return PruneQuery(
            rules={name: given[name] for name in names},
            target_tokens=given["target_tokens"],
        )


@dataclass(frozen=True, slots=True)
class PlanLine:
    """What becomes of a message, with the message's name to show."""

    item: PruneItem
    name: str
    by: Named | None
    """The message that superseded it, if one did."""
    relevance: float | None
    """Its similarity to the objective; None if unknown."""


@dataclass(frozen=True, slots=True)
class RuleSum:
    """What one rule leaves out."""

    title: str
    messages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class RegretLine:
    """How much of what a rule left out was recalled, with the rule's label."""

    title: str
    regret: Regret


@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """The plan of a run under the rules in the query string; POST applies it."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    if request.method == "POST":
        return _apply(request, caller, session)
    form = PruneForm(_given(session, request.GET))
    return _shown(request, caller, session, form)


def _apply(request: HttpRequest, caller: Caller, session: Session) -> HttpResponseBase:
    form = PruneForm(_given(session, request.POST))
    if not form.is_valid():
        return _shown(request, caller, session, form, status=422)
    head = form.cleaned_data["head"]
    try:
        found = prune(caller, session.pk, form.query(), expected_head=head)
    except Conflict as conflict:
        if conflict.code != "stale_head":
            raise
        text = "The session changed meanwhile. This is the plan as it is now."
        messages.warning(request, text)
        return redirect(_again(session, request.POST))
    if found.transaction is None:
        messages.info(request, "There was nothing to prune.")
        return redirect(_again(session, request.POST))
    said = "Pruned" if caller.may(Right.EDIT, session.project_id) else "Proposed"
    saved = f"{found.plan.tokens_saved:,} tokens"
    sentence = f"{said}: {saved} less in one bundle."
    messages.success(request, sentence, extra_tags="undo")
    return redirect("operations:thread", session.pk)


def _again(session: Session, sent: Mapping[str, Any]) -> str:
    """The URL of the plan under the submitted rules."""
    names = (name for name in PruneForm.base_fields if name in sent and name != "head")
    rules = urlencode({name: sent[name] for name in names})
    return f"{reverse('archive:prune', args=[session.pk])}?{rules}"


def _given(session: Session, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The form's data: the rules in force, overridden by the submitted fields."""
    rules = rules_of(session)
    known = {name: getattr(rules, name) for name in (*_NUMBERS, _RELEVANT)}
    written = ListField().prepare_value
    known |= {name: written(getattr(rules, name)) for name in _LISTS}
    sent = {name: fields[name] for name in PruneForm.base_fields if name in fields}
    return known | sent


def _shown(
    request: HttpRequest,
    caller: Caller,
    session: Session,
    form: PruneForm,
    *,
    status: int = 200,
) -> HttpResponse:
    found = None
    if form.is_valid():
        # For a longer thread the estimate would keep the page waiting.
        is_short = session.message_count <= MAX_UNASKED
        found = dry_run(caller, session.pk, form.query(), tried=is_short)
    else:
        status = 422
    context = {
        "session": session,
        "form": form,
        "has_meaning": meaning.is_on(),
        "trigger": trigger_of(session).sentence(session.model),
        "automatic": rules_of(session).automatic,
        "regrets": [RegretLine(RULES[one.rule], one) for one in regret_of(session)],
        "may_apply": caller.may(Right.PROPOSE, session.project_id),
        "may_edit": caller.may(Right.EDIT, session.project_id),
        **(_plan_shown(found, request.GET.get("show") == "all") if found else {}),
    }
    return render(request, "archive/prune.html", context, status=status)


def _plan_shown(found: Pruned, everything: bool) -> dict[str, Any]:
    items = [
        item
        for item in found.plan.items
        if everything or item.prune_class is not PruneClass.KEEP
    ]
    thread = load_thread(found.session)
    first = found.plan.first_changed
    shown = items[:MAX_SHOWN]
    near = relevance_at(found.session, [item.key for item in shown])
    return {
        "plan": found.plan,
        "first_changed": named(thread, [first])[0] if first else None,
        **_estimate(found.trial),
        "head": found.session.head,
        "tokens_before": found.plan.tokens_after + found.plan.tokens_saved,
        "sums": _sums(found.plan.items),
        "has_relevance": has_relevance(found.session),
        "items": [_line(thread, item, near) for item in shown],
        "more": max(0, len(items) - MAX_SHOWN),
        "everything": everything,
        "count": len(found.plan.items),
    }


def _estimate(trial: BundleTrial | None) -> dict[str, Any]:
    """What the run saves and costs in a request; empty if that isn't known."""
    if trial is None:
        return {}
    return {"cost": line_of(trial.row, trial.prices), "prices": note_of(trial)}


def _line(thread: Thread, item: PruneItem, near: Mapping[Key, float]) -> PlanLine:
    by = named(thread, [item.by])[0] if item.by else None
    name, relevance = name_of(thread, item.key), near.get(item.key)
    return PlanLine(item, name, by, relevance)


def _sums(items: Sequence[PruneItem]) -> list[RuleSum]:
    sums = []
    for rule, title in RULES.items():
        held = [item for item in items if item.rule is not None and item.rule == rule]
        tokens = sum(item.tokens - item.tokens_after for item in held)
        if held:
            sums.append(RuleSum(title, len(held), tokens))
    return sums
