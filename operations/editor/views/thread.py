"""The thread page and its rows."""

import uuid

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_POST, require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid, NotFound
from operations.domain.tree.key import entry_number
from operations.editor.panels.drawer import drawer_of
from operations.editor.panels.meter import meter_of
from operations.editor.panels.outline import outline_of
from operations.editor.rows.articles import articles_of, gap_articles, gap_of
from operations.editor.rows.drawing import draw, draw_gap, joined
from operations.editor.rows.finding import node_of
from operations.editor.rows.look import Look
from operations.editor.rows.minimap import minimap_of
from operations.editor.rows.sections import SIZE, draw_chunk, draw_sections, start_of
from operations.exports.services import export_menu, export_response
from operations.requests import View, fields_of, number_of, view_of
from threads.search import meaning
from threads.search.relevance import has_relevance
from threads.store.origins import load_origin
from threads.store.selectors import get_session

from .patches import patch
from .requests import keep_open, look_at

MAX_AT_ONCE = 500


@require_safe
def page(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The thread editor, with the rows around `at` (a key) or from `start` on."""
    look = look_at(request, session_id)
    loaded = _anchor(request, look)
    address = reverse("operations:thread", args=[look.session.pk])
    context = {
        "session": look.session,
        "head": look.thread.head,
        "view": look.view,
        "views": [
            {
                "name": view,
                "title": view.capitalize(),
                "href": f"{address}?{urlencode({'view': view})}",
            }
            for view in View
        ],
        "may_edit": look.may_edit,
        "may_propose": look.may_propose,
        "has_meaning": meaning.is_on(),
        "has_relevance": has_relevance(look.session),
        "shows_relevance": look.shows_relevance,
        "sections": draw_sections(look, loaded) if look.total else "",
        "total": look.total,
        "pages": _pages(look, loaded, address),
        "meter": meter_of(look),
        "outline": outline_of(look),
        "minimap": minimap_of(look),
        "drawer": drawer_of(look, caller_of(request)),
        "exports": export_menu(look.session),
        "origin": load_origin(look.session),
    }
    return render(request, "operations/editor/thread.html", context)


@require_safe
def chunk(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    look = look_at(request, session_id)
    start = number_of(request.GET, "start", 0)
    count = min(number_of(request.GET, "count", SIZE), MAX_AT_ONCE)
    answer = HttpResponse(draw_chunk(look, start, count))
    answer["X-Head"] = str(look.thread.head)
    return answer


@require_GET
def changes(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The patch that brings a page to the newest head; 204 if it is up to date."""
    look = look_at(request, session_id)
    mark, fields = str(look.session.title_mark), request.GET
    is_new = number_of(fields, "since") == look.thread.head
    is_whole = number_of(fields, "messages", 0) == look.thread.message_count
    if is_new and is_whole and fields.get("title_mark", mark) == mark:
        return HttpResponse(status=204)
    return patch(request, look)


@require_POST
def fold(request: HttpRequest, session_id: uuid.UUID, key: str) -> HttpResponse:
    """Open or close a fold, which is remembered for this user, or show a row in full or brief."""
    look = look_at(request, session_id)
    is_open = request.POST.get("open") == "1"
    if entry_number(key) is not None:
        keep_open(caller_of(request), look.session, [key], is_open=is_open)
        changed = look.open_folds | {key} if is_open else look.open_folds - {key}
        look.open_folds = frozenset(changed)
    return HttpResponse(joined(_row(look, key, brief=not is_open)))


@require_POST
def folds(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Open or close all top-level folds, loaded or not, which is remembered for this user."""
    look = look_at(request, session_id)
    thread, opened = look.thread, look.open_folds
    keys = {key for key in thread.folds if thread.top_key(key) == key}
    is_open = request.POST.get("open") == "1"
    keep_open(caller_of(request), look.session, keys, is_open=is_open)
    look.open_folds = opened | keys if is_open else opened - keys
    return patch(request, look, opened=opened)


@require_GET
def children(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Nodes from the gap of an opened fold, and what remains of the gap.

    They are the first nodes of the gap, or those from the node `at` on.
    """
    look = look_at(request, session_id)
    fold_key = request.GET.get("operation", "")
    start, count = number_of(request.GET, "start"), number_of(request.GET, "count")
    end = start + count
    at = min(max(number_of(request.GET, "at", start), start), end)
    drawn = draw(look, gap_articles(look, fold_key, at, min(end - at, SIZE)))
    if at > start:
        drawn.insert(0, draw_gap(gap_of(look, fold_key, start, at - start)))
    if end > at + SIZE:
        drawn.append(draw_gap(gap_of(look, fold_key, at + SIZE, end - at - SIZE)))
    return HttpResponse(joined(drawn))


@require_GET
def export(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """A download: the originals, or what the model sees."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    fields = fields_of(request)
    view = View.EFFECTIVE if not fields.get("view") else view_of(fields)
    return export_response(
        caller, session, format=fields.get("format", "contextstudio"), view=view
    )


def _row(look: Look, key: str, *, brief: bool) -> list[SafeString]:
    """The article of one node, at any depth."""
    if look.view is View.ORIGINAL:
        nodes = look.nodes(look.place(key), 1)
        return draw(look, articles_of(look, nodes[0], brief=brief))
    node = look.thread.node(key)
    before = None
    if not node.depth:
        position = look.thread.position(key)
        before = look.nodes(position - 1, 1)[0] if position else None
    first = not node.depth and before is None
    articles = articles_of(look, node, before=before, first=first, brief=brief)
    asked = [article for article in articles if article.shows == key]
    return draw(look, asked or articles[:1])


def _anchor(request: HttpRequest, look: Look) -> int:
    """The place where the section to show first starts; the top for an unknown key."""
    if not look.total:
        return 0
    try:
        if at := request.GET.get("at"):
            place = look.place(node_of(look.thread, at))
        else:
            place = number_of(request.GET, "start", 0)
    except (NotFound, Invalid):
        place = 0
    return start_of(min(place, look.total - 1))


def _pages(look: Look, loaded: int, address: str) -> list[dict[str, str]]:
    """Links to the previous and next section, for reading without JavaScript."""
    pages = []
    for start, rel in ((loaded - SIZE, "prev"), (loaded + SIZE, "next")):
        if 0 <= start < look.total:
            query = urlencode({"view": str(look.view), "start": str(start)})
            end = min(start + SIZE, look.total)
            pages.append(
                {
                    "href": f"{address}?{query}",
                    "rel": rel,
                    "label": f"{start + 1:,}–{end:,}",
                }
            )
    return pages
