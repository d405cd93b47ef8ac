"""Where messages are, what is selected and what words cost: answers for the script."""

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
from operations.editor.rows.finding import found_at, step_to
from operations.editor.rows.look import Look
from operations.editor.rows.operation import leaves_of, tokens_of
from operations.messages.names import extent_of
from operations.messages.pairs import parted
from operations.messages.relevance import find_near
from operations.messages.search import (
    find_effective,
    find_in_thread,
    find_originals,
    in_order,
)
from operations.requests import View, fields_of, number_of
from threads.search.services import LONGEST_QUERY
from threads.store.selectors import get_session
from threads.tokens import count_many

from .requests import look_at


@require_http_methods(["GET", "HEAD", "POST"])
def selection(request: HttpRequest, session_id: uuid.UUID) -> JsonResponse:
    """What `keys`, all `from` one `to` another, or an `operation` comes to.

    `parted` says which calls or results it takes without their other half, and names these;
    `is_run`, whether it is all from its first row to its last.
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
    lacks = parted(look.session, thread, leaves)
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
    """The place of a message by `key` or `number`, or the `next` or `previous` of a kind.

    An operation is where it hangs or acts. Where there is none the answer is empty: that is no
    failure of the page. `within` says for each of the `folds` which of its nodes leads there.
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
    """The keys of what holds the words `q`, in the order of the view. Raises Invalid.

    With `meaning` of what is about them, or about the objective where there are none, and how near
    each is. `first` is the place among them of the first that isn't before the row `at`.
    """
    look, query = look_at(request, session_id), request.GET.get("q", "")
    if "meaning" in request.GET and len(query) <= LONGEST_QUERY:
        near = find_near(look.session, look.thread, look.view, query)
        first = _first_from(look, request.GET.get("at", ""), list(near))
        answer = {"keys": list(near), "near": list(near.values()), "first": first}
        return JsonResponse(answer)
    if not 0 < len(query) <= LONGEST_QUERY:
        raise Invalid(f"Search for 1 to {LONGEST_QUERY:,} characters.", at=["q"])
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
    """The tokens of a `text` that is being written; line ends as a form's words have them."""
    session = get_session(caller_of(request), session_id)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    return JsonResponse({"tokens": count_many([text], session.encoding)[0]})


def _located(look: Look, fields: QueryDict) -> tuple[int, Key]:
    """The place and the key that are asked for. Raises NotFound."""
    key = fields.get("key", "")
    if fields.get("number"):
        key = f"m{number_of(fields, 'number')}"
    key = found_at(look.thread, key)
    for name, step in (("next", 1), ("previous", -1)):
        if kind := fields.get(name):
            return step_to(look, key, step, kind)
    return look.place(key), key


def _first_from(look: Look, key: Key, found: Sequence[Key]) -> int:
    """Of keys in the order of the view the first that isn't before a row; 0 where all are."""
    try:
        start = look.place(found_at(look.thread, key))
    except NotFound:
        return 0
    first = bisect_left(found, start, key=look.place)
    return first if first < len(found) else 0


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
            closed = (fold for fold in thread.path(leaf) if fold not in look.open_folds)
            rows[next(closed, leaf)] = None
    return _in_order(look, rows)
