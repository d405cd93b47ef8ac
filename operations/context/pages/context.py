"""What the model sees: the context of a session, as a page and as a download.

See `templates/operations/context/context.html`.
"""

import json
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import dump
from operations.context.comparison import context_of_originals, context_without
from operations.context.services import (
    Context,
    ContextQuery,
    assemble_session,
)
from operations.domain.context.selection import ISOLATION, SLICE
from operations.domain.context.step import Step
from operations.domain.context.window import WINDOW
from operations.domain.ledger.ledger import DiffSide
from operations.domain.providers import PROVIDERS
from operations.domain.tree.key import Key
from operations.log.selectors import load_history
from operations.messages.names import named, range_of, word_for
from operations.requests import number_of
from operations.snapshots.selectors import get_snapshot, list_snapshots
from operations.snapshots.services import context_at
from threads.models import Session
from threads.rendering.hidden import visible
from threads.sessions.downloads import download_name
from threads.store.selectors import get_session

from .compared_messages import ComparedPage, compare_messages
from .request_page import pieces_of
from .sent_messages import (
    RequestMessage,
    alike_messages,
    leaves_of,
    links_of,
    listed,
)

REASONS = 4
"""The most reasons that are shown for a step."""
NAMES = {
    "replay": "Operations",
    SLICE: "Slice",
    WINDOW: "Window",
    ISOLATION: "Isolation",
    "truncation": "Truncation",
    "markers": "Markers",
    "layers": "Layers",
    "compile": "Provider rules",
}
"""The names of the steps as people see them."""


@dataclass(frozen=True, slots=True)
class TokenBar:
    """One line of a table of tokens. `width` is its share of the longest line, in percent."""

    name: str
    tokens: int
    width: int


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a step left something out, and how much."""

    why: str
    tokens: int
    places: int
    """How many messages or folds are concerned; 0 if that was not counted."""


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step with its tokens."""

    name: str
    lost: int
    added: int
    after: int
    reasons: Sequence[Reason]
    """The reasons with the most tokens, heaviest first."""


@dataclass(frozen=True, slots=True)
class ComparisonWords:
    """How the page names the other context: in a sentence, and where messages differ."""

    than: str
    old: str
    new: str


def steps_of(context: Context) -> list[ShownStep]:
    """What each step left out and added."""
    return [
        ShownStep(
            name=NAMES.get(step.name, step.name),
            lost=sum(omission.tokens for omission in step.left_out) + step.shortened,
            added=max(0, step.added),
            after=step.after,
            reasons=_reasons(step),
        )
        for step in context.steps
    ]


def _reasons(step: Step) -> list[Reason]:
    lost: dict[str, list[int]] = defaultdict(list)
    for omission in step.left_out:
        if omission.tokens:
            lost[omission.why.removesuffix(".")].append(omission.tokens)
    found = [Reason(why, sum(each), len(each)) for why, each in lost.items()]
    if step.shortened:
        found.append(Reason("Text replaced or masked", step.shortened, 0))
    return sorted(found, key=lambda reason: -reason.tokens)[:REASONS]


def layers_of(context: Context) -> list[TokenBar]:
    """Tokens by layer, the history last; together everything that is sent."""
    found = [(layer.name, layer.tokens) for layer in context.assembly.layers]
    found.append(("history", context.sent - sum(tokens for _, tokens in found)))
    most = max((tokens for _, tokens in found), default=0) or 1
    return [
        TokenBar(name, tokens, round(100 * max(tokens, 0) / most))
        for name, tokens in found
    ]


def messages_of(context: Context, start: int) -> tuple[int, list[RequestMessage]]:
    """The number of messages, and those from a place on."""
    count = len(context.compiled.messages)
    return count, listed(count, start, partial(_sent, context))


def difference_of(before: Context, after: Context, start: int) -> ComparedPage:
    """Two contexts side by side, from a line on."""
    contexts = {DiffSide.BEFORE: before, DiffSide.AFTER: after}

    def leaves(side: DiffSide, place: int) -> list[Key]:
        context = contexts[side]
        role = _role(context.compiled.messages[place])
        return leaves_of(context.thread, context.compiled.origins[place], role)

    def show(side: DiffSide, places: Sequence[int]) -> Iterator[RequestMessage]:
        return _sent(contexts[side], side, places)

    return compare_messages(_texts(before), _texts(after), start, leaves, show)


def _texts(context: Context) -> list[str]:
    return [
        json.dumps(message, sort_keys=True) for message in context.compiled.messages
    ]


def _sent(
    context: Context, _side: DiffSide, places: Sequence[int]
) -> Iterator[RequestMessage]:
    for place in places:
        message = context.compiled.messages[place]
        yield RequestMessage(
            place=place,
            role=_role(message),
            pieces=pieces_of(message),
            origins=named(context.thread, context.compiled.origins[place]),
        )


def _role(message: Mapping[str, Any]) -> str:
    return str(message.get("role") or message.get("type") or "message")


ORIGINAL = "original"
SNAPSHOT = "snapshot:"
"""The prefix of a snapshot's name in `against`."""
MAX_LENGTH = 120
"""The maximum length of `against`, in characters."""


@require_safe
def page(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The page; `against` compares with the originals, the context without `o7`, or a snapshot.

    With `until`, only a run of messages that both have in common.
    """
    session = get_session(caller_of(request), session_id)
    query = _query(request)
    context = assemble_session(session, query)
    thread = context.thread
    against = request.GET.get("against", "")[:MAX_LENGTH]
    start = number_of(request.GET, "start", 0)
    if "until" in request.GET:
        places = range(start, number_of(request.GET, "until"))
        return _alike(request, session, context, places)
    before = _compared_with(session, query, against)
    request_href = _address(request, session, context)
    is_part = _wants_part(request)
    name = "context_body" if is_part else "context"
    return render(
        request,
        f"operations/context/{name}.html",
        {
            "session": session,
            "is_part": is_part,
            "context": context,
            "before": before,
            "saved": before.sent - context.sent if before else 0,
            "against": against,
            "compared": _in_words(against),
            "snapshots": [
                (f"{SNAPSHOT}{one.name}", one) for one in list_snapshots(session)
            ],
            "operations": _operations(session),
            "provider": PROVIDERS[context.provider],
            "providers": PROVIDERS.values(),
            "issues": [
                (one, named(thread, one.keys)) for one in context.compiled.issues
            ],
            "heaviest": [
                (one, range_of(thread, one.first, one.last)) for one in context.heaviest
            ],
            "steps": steps_of(context),
            "layers": layers_of(context),
            **_listed(
                before, context, start, f"{request_href}&against={quote(against)}"
            ),
            "request_href": request_href,
            "download_href": f"{reverse('operations:request', args=[session.pk])}"
            f"?{urlencode({'provider': context.provider, 'model': query.model})}",
        },
    )


def _listed(
    before: Context | None, context: Context, start: int, href: str
) -> dict[str, Any]:
    """The messages from a place on, or the rows of a comparison with another context."""
    sent, beside = list[RequestMessage](), ComparedPage()
    if before is None:
        total, sent = messages_of(context, start)
    else:
        beside = difference_of(before, context, start)
        total = beside.total

    def address(line: int) -> str:
        return f"{href}&start={line}"

    return {
        "total": total,
        "sent": sent,
        "beside": beside,
        **links_of(total, start, address),
        **beside.links(address),
    }


def _address(request: HttpRequest, session: Session, context: Context) -> str:
    """The address of the request for this provider and model."""
    fields = {"provider": context.provider, "model": request.GET.get("model", "")}
    return f"{reverse('operations:context', args=[session.pk])}?{urlencode(fields)}"


def _alike(
    request: HttpRequest, session: Session, context: Context, places: range
) -> HttpResponse:
    """A run of messages of the request."""
    count = len(context.compiled.messages)
    show = partial(_sent, context)
    found = {
        "session": session,
        "alike": alike_messages(count, places, show),
        "request_href": _address(request, session, context),
    }
    return render(request, "operations/context/alike_messages.html", found)


def _compared_with(
    session: Session, query: ContextQuery, against: str
) -> Context | None:
    """The context to compare with; None if no comparison is asked for."""
    if not against:
        return None
    if against == ORIGINAL:
        return context_of_originals(session, query)
    if against.startswith(SNAPSHOT):
        snapshot = get_snapshot(session, against.removeprefix(SNAPSHOT))
        return context_at(session, query, snapshot)
    return context_without(session, query, against)


def _in_words(against: str) -> ComparisonWords:
    """How the page names the context that it compares with."""
    if against == ORIGINAL:
        return ComparisonWords("the original thread as sent", "Original", "Sent")
    if against.startswith(SNAPSHOT):
        name = visible(against.removeprefix(SNAPSHOT))
        return ComparisonWords(f'at "{name}"', "Then", "Now")
    return ComparisonWords(f"without {against}", "Without", "With")


def _wants_part(request: HttpRequest) -> bool:
    """Whether only the part below the fields is requested, as the form does.

    Going back in the browser requests the whole page, and so does a page that follows its session.
    """
    return request.headers.get("HX-Target") == "context-body"


@require_safe
def request_body(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The request as it would be sent, as a download."""
    session = get_session(caller_of(request), session_id)
    context = assemble_session(session, _query(request))
    answer = HttpResponse(
        dump(context.compiled.request), content_type="application/json"
    )
    name = download_name(session, f"-request-{context.provider}.json")
    answer["Content-Disposition"] = content_disposition_header(True, name)
    return answer


def _query(request: HttpRequest) -> ContextQuery:
    provider, model = (request.GET.get(name, "") for name in ("provider", "model"))
    return ContextQuery(
        provider=provider,
        model=model.strip()[:128],
        actor=caller_of(request).actor,
    )


def _operations(session: Session) -> list[tuple[str, str, str]]:
    """Key, name and title of the operations that can be left out, newest first."""
    history = load_history(session)
    return [
        (
            f"o{number}",
            f"{word_for(recorded)} o{number}",
            history.title(number),
        )
        for number in reversed(history.log.edits)
        if not (recorded := history.log.edits[number]).is_withdrawn
        and recorded.edit.kind != "redact"
    ]
