"""JSON for the page's script: where messages are, what is selected, how many tokens a text has."""

import uuid
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid, NotFound
from operations.domain.log.operation import named_keys
from operations.domain.tree.key import Key
from operations.editor.rows.finding import node_of, step_to
from operations.editor.rows.look import Look
from operations.editor.rows.operation import leaves_of, tokens_of
from operations.messages.names import extent_of
from operations.messages.pairs import separated_pairs
from operations.messages.relevance import find_near
from operations.messages.search import (
    find_effective,
    find_in_thread,
    find_originals,
    in_order,
)
from operations.requests import View, fields_of, number_of
from threads.search.services import MAX_QUERY_LENGTH
from threads.store.selectors import get_session
from threads.tokens import count_many

from .requests import look_at


@require_http_methods(["GET", "HEAD", "POST"])
def selection(request: HttpRequest, session_id: uuid.UUID) -> JsonResponse:
    """Describe a selection: `keys`, all `from` one `to` another, or an `operation`.

    `parted` names the calls or results that it separates from their other half. `is_run` says
    whether it holds all rows from its first to its last.
    """
    look = look_at(request, session_id)
    fields = fields_of(request)
    thread = look.thread
    if first := fields.get("from"):
        keys = thread.keys_between(first, fields.get("to") or first)
    elif operation := fields.get("operation"):
        recorded = thread.log.edit(operation)
        keys = _rows_of(look, named_keys(recorded.edit) if recorded else ())
    else:
        keys = _in_order(look, fields.get("keys", "").split())
    leaves = leaves_of(thread, keys)
    lacks = separated_pairs(look.session, thread, leaves)
    return JsonResponse(
        {
            "keys": keys,
            "count": len(leaves),
            "tokens": tokens_of(thread, leaves),
            "label": extent_of(thread, leaves),
            "is_run": bool(keys) and thread.keys_between(keys[0], keys[-1]) == keys,
            "parted": {"sentence": lacks.sentence, "keys": lacks.keys},
        }
    )


@require_safe
def locate(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The place of a message by `key` or `number`, or of the `next` or `previous` of a kind.

    An operation is located where it hangs or acts. If there is none, the response is 204, as that
    is not an error. `within` gives for each of the `folds` the index of the node that leads there.
    """
    look = look_at(request, session_id)
    try:
        place, key = _located(look, request.GET)
    except NotFound:
        return HttpResponse(status=204)
    folds = look.thread.path(key) if look.view is View.ANNOTATED else []
    ways = zip(folds, [*folds, key][1:], strict=True)
    within = [look.thread.child_keys(fold).index(node) for fold, node in ways]
    return JsonResponse(
        {"position": place, "key": key, "folds": folds, "within": within}
    )


@require_safe
def find(request: HttpRequest, session_id: uuid.UUID) -> JsonResponse:
    """The keys of messages that contain the words `q`, in view order. Raises Invalid.

    With `meaning`, the keys of messages about `q`, or about the objective if `q` is empty, with
    their similarity. `first` is the index of the first key that isn't before the row `at`.
    """
    look, query = look_at(request, session_id), request.GET.get("q", "")
    if "meaning" in request.GET and len(query) <= MAX_QUERY_LENGTH:
        near = find_near(look.session, look.thread, look.view, query)
        first = _first_from(look, request.GET.get("at", ""), list(near))
        answer = {"keys": list(near), "near": list(near.values()), "first": first}
        return JsonResponse(answer)
    if not 0 < len(query) <= MAX_QUERY_LENGTH:
        raise Invalid(f"Search for 1 to {MAX_QUERY_LENGTH:,} characters.", at=["q"])
    if look.view is View.ORIGINAL:
        keys = find_originals(look.session, query)
    elif look.view is View.EFFECTIVE:
        keys = find_effective(look.session, look.thread, query)
    else:
        keys = find_in_thread(look.session, look.thread, query)
    first = _first_from(look, request.GET.get("at", ""), keys)
    return JsonResponse({"keys": keys, "first": first})


@require_POST
def tokens(request: HttpRequest, session_id: uuid.UUID) -> JsonResponse:
    """The tokens of a `text` that is being typed, with line endings as a form submits them."""
    session = get_session(caller_of(request), session_id)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    return JsonResponse({"tokens": count_many([text], session.encoding)[0]})


def _located(look: Look, fields: QueryDict) -> tuple[int, Key]:
    """The requested place and key. Raises NotFound."""
    key = fields.get("key", "")
    if fields.get("number"):
        key = f"m{number_of(fields, 'number')}"
    key = node_of(look.thread, key)
    for name, step in (("next", 1), ("previous", -1)):
        if kind := fields.get(name):
            return step_to(look, key, step, kind)
    return look.place(key), key


def _first_from(look: Look, key: Key, found: Sequence[Key]) -> int:
    """The index of the first key, in view order, that isn't before a row; 0 if all are before."""
    try:
        start = look.place(node_of(look.thread, key))
    except NotFound:
        return 0
    first = bisect_left(found, start, key=look.place)
    return first if first < len(found) else 0


def _in_order(look: Look, keys: Iterable[Key]) -> list[Key]:
    """Keys of rows in thread order; keys no longer in the thread are left out."""
    thread = look.thread
    return in_order(thread, dict.fromkeys(key for key in keys if thread.holds(key)))


def _rows_of(look: Look, leaves: Iterable[Key]) -> list[Key]:
    """The rows that show leaves: the leaves themselves, or the closed folds that hold them."""
    thread = look.thread
    rows: dict[Key, None] = {}
    for leaf in leaves:
        if thread.holds(leaf):
            closed = (fold for fold in thread.path(leaf) if fold not in look.open_folds)
            rows[next(closed, leaf)] = None
    return _in_order(look, rows)
