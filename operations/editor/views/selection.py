"""Where messages are, and what is selected: answers for the script, in the thread's order."""

import uuid
from collections.abc import Iterable, Iterator

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.views.decorators.http import require_http_methods, require_safe

from contextstudio.accounts.domain.errors import Invalid, NotFound
from operations.domain.tree.key import Key
from operations.editor.panels.dialog import leaves_of
from operations.editor.panels.drawer import targets_of
from operations.editor.rows.look import Look
from operations.editor.rows.minimap_bands import shapes
from operations.editor.rows.operation import tokens_of
from operations.messages.names import ranges_of
from operations.messages.search import (
    find_effective,
    find_in_thread,
    find_originals,
    in_order,
)
from operations.requests import View, fields_of, number_of
from threads.search.services import LONGEST_QUERY

from .requests import look_at


@require_http_methods(["GET", "HEAD", "POST"])
def selection(request: HttpRequest, session_id: uuid.UUID) -> JsonResponse:
    """What `keys`, all `from` one `to` another, or an `operation` comes to."""
    look = look_at(request, session_id)
    fields = fields_of(request)
    thread = look.thread
    if first := fields.get("from"):
        keys = thread.keys_between(first, fields.get("to") or first)
    elif operation := fields.get("operation"):
        keys = _rows_of(look, targets_of(look, operation))
    else:
        keys = _in_order(look, fields.get("keys", "").split())
    leaves = leaves_of(thread, keys)
    return JsonResponse(
        {
            "keys": keys,
            "count": len(leaves),
            "tokens": tokens_of(thread, leaves),
            "label": ranges_of(thread, leaves),
        }
    )


@require_safe
def locate(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The place of a message by `key` or `number`, or the `next` or `previous` of a kind.

    Where there is none the answer is empty: that is no failure of the page.
    """
    look = look_at(request, session_id)
    try:
        place, key = _located(look, request.GET)
    except NotFound:
        return HttpResponse(status=204)
    folds = look.thread.path(key) if look.view is View.ANNOTATED else []
    return JsonResponse({"position": place, "key": key, "folds": folds})


@require_safe
def find(request: HttpRequest, session_id: uuid.UUID) -> JsonResponse:
    """The keys of what holds the words `q`, in the order of the view. Raises Invalid."""
    look, query = look_at(request, session_id), request.GET.get("q", "")
    if not 0 < len(query) <= LONGEST_QUERY:
        raise Invalid(f"Search for 1 to {LONGEST_QUERY:,} characters.", at=["q"])
    if look.view is View.ORIGINAL:
        keys = find_originals(look.session, query)
    elif look.view is View.EFFECTIVE:
        keys = find_effective(look.session, look.thread, query)
    else:
        keys = find_in_thread(look.session, look.thread, query)
    return JsonResponse({"keys": keys})


def _located(look: Look, fields: QueryDict) -> tuple[int, Key]:
    """The place and the key that are asked for. Raises NotFound."""
    key = fields.get("key", "")
    if fields.get("number"):
        key = f"m{number_of(fields, 'number')}"
    place = look.place(key)
    for name, step in (("next", 1), ("previous", -1)):
        if kind := fields.get(name):
            place = _step(look, place, step, kind)
            key = _key_at(look, place)
    return place, key


def _in_order(look: Look, keys: Iterable[Key]) -> list[Key]:
    """Keys of rows in the order of the thread; what is not there any more is left out."""
    thread = look.thread
    return in_order(thread, dict.fromkeys(key for key in keys if thread.holds(key)))


def _rows_of(look: Look, leaves: Iterable[Key]) -> list[Key]:
    """The rows that hold leaves: themselves, or the closed folds that they lie in."""
    thread = look.thread
    rows: dict[Key, None] = {}
    for leaf in leaves:
        if thread.holds(leaf):
            closed = (fold for fold in thread.path(leaf) if not look.is_open(fold))
            rows[next(closed, leaf)] = None
    return _in_order(look, rows)


def _step(look: Look, place: int, step: int, kind: str) -> int:
    """The next place of a kind, `user` or `marker`. Raises NotFound."""
    marked = _marked(look) if kind == "marker" else frozenset[int]()
    rows = shapes(look)
    found = place + step
    while 0 <= found < len(rows):
        shape = rows[found]
        is_there = (
            shape.is_fold or found in marked
            if kind == "marker"
            else shape.kind == "user"
        )
        if is_there and not (kind == "user" and shape.is_fold):
            return found
        found += step
    raise NotFound("There is none.")


def _marked(look: Look) -> frozenset[int]:
    """The places of rows that something other than a fold was done to."""
    return frozenset(look.place(key) for key in _touched(look))


def _touched(look: Look) -> Iterator[Key]:
    thread = look.thread
    yield from thread.marks
    for moved in thread.moved:
        yield moved.keys[0]
    for op in look.operations.all():
        if op.word == "insert" and thread.holds(f"{op.key}.0"):
            yield f"{op.key}.0"


def _key_at(look: Look, place: int) -> Key:
    position, _ = look.places.position(place)
    return look.nodes(position, 1)[0].key
