"""The response to a write: the rows that changed, the panels around them, and a notice."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Concatenate, NamedTuple, ParamSpec

from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from contextstudio.accounts.authentication import caller_of
from operations.domain.log.operation import Undo, named_keys
from operations.domain.tree.key import Key, entry_key, made_key, original_index
from operations.editor.panels.drawer import drawer_of
from operations.editor.panels.meter import meter_of
from operations.editor.panels.notice import notice_of
from operations.editor.panels.outline import changed_groups, outline_of
from operations.editor.rows.drawing import joined
from operations.editor.rows.look import Look
from operations.editor.rows.minimap import minimap_of
from operations.editor.rows.patch import Range, patch_of
from operations.log.transaction import LogTransaction
from operations.requests import View, fields_of, number_of, view_of

from .requests import earlier, look_of, ranges_of, shows_relevance

_Given = ParamSpec("_Given")


class _Page(NamedTuple):
    """The state of the page, as it reports it in the request; None if not reported."""

    view: View
    since: int | None
    messages: int | None
    ranges: list[Range]


def _page_of(fields: QueryDict) -> _Page:
    """The page's state from the request's fields. Raises Invalid."""
    named = next((name for name in ("since", "head") if fields.get(name)), None)
    return _Page(
        view_of(fields),
        number_of(fields, named) if named else None,
        number_of(fields, "messages") if fields.get("messages") else None,
        ranges_of(fields),
    )


def recording(
    view: Callable[Concatenate[HttpRequest, _Given], HttpResponse],
) -> Callable[Concatenate[HttpRequest, _Given], HttpResponse]:
    """Decorate a view that records and returns a patch.

    The fields that the patch needs are validated first, so that nothing is recorded if they are
    invalid.
    """

    @wraps(view)
    def checked(
        request: HttpRequest, /, *args: _Given.args, **named: _Given.kwargs
    ) -> HttpResponse:
        _page_of(fields_of(request))
        return view(request, *args, **named)

    return require_POST(checked)


def answer(
    request: HttpRequest, transaction: LogTransaction, *, notice: str = ""
) -> HttpResponse:
    """The patch that shows what was recorded, with a notice that offers undo or redo.

    `notice` says what else was done.
    """
    view, relevance = view_of(fields_of(request)), shows_relevance(request)
    session = transaction.session
    look = look_of(caller_of(request), session, view=view, shows_relevance=relevance)
    says_more = notice and not transaction.numbers
    recorded = "" if says_more else notice_of(look, transaction)
    return patch(
        request,
        look,
        notice=" ".join(filter(None, (recorded, notice))),
        step=_way_back(transaction),
        focus=_focus(look, transaction),
    )


def patch(
    request: HttpRequest,
    look: Look,
    *,
    opened: frozenset[Key] | None = None,
    notice: str = "",
    step: str = "",
    focus: Key = "",
) -> HttpResponse:
    """The response that brings the requesting page from its head to that of the look.

    `opened` are the folds open in the page, if they differ from the look's. `step` is the action
    that the notice offers, `focus` the key of what was made.
    """
    page = _page_of(fields_of(request))
    since = look.thread.head if page.since is None else page.since
    old = earlier(look, head=since, message_count=page.messages)
    if opened is not None:
        old = replace(old, open_folds=opened)
    pieces = [
        patch_of(old, look, page.ranges).html(focus=focus),
        _side_panels(request, look, old),
    ]
    if notice:
        toast = render_to_string("parts/toast.html", {"text": notice, "step": step})
        swapped = format_html('<div hx-swap-oob="beforeend:#toasts">{}</div>', toast)
        pieces.append(swapped)
    answer = HttpResponse(joined(pieces))
    answer["X-Head"] = str(look.thread.head)
    return answer


def _way_back(transaction: LogTransaction) -> str:
    """The action that takes back what was recorded: redo after an undo, otherwise undo."""
    if not transaction.numbers:
        return ""
    last = transaction.thread.log.at(transaction.numbers[-1]).operation
    return "redo" if isinstance(last, Undo) else "undo"


def _side_panels(request: HttpRequest, look: Look, old: Look) -> SafeString:
    """Meter, drawer and counts, each swapped by its id; minimap and outline only if they changed.

    A page that also lists older operations requests its drawer itself, as that may be long.
    """
    minimap, outline = minimap_of(look), outline_of(look)
    groups = changed_groups(outline_of(old), outline)
    context = {
        "oob": True,
        "meter": meter_of(look),
        "outline": outline if groups is None else None,
        "groups": groups or (),
        "minimap": minimap if minimap != minimap_of(old) else None,
        "lists_older": bool(fields_of(request).get("lists_older")),
        "drawer": drawer_of(look, caller_of(request)),
        "may_edit": look.may_edit,
        "may_propose": look.may_propose,
        "session": look.session,
    }
    return render_to_string(
        "operations/editor/panels/side_panels.html", context, request
    )


def _focus(look: Look, transaction: LogTransaction) -> Key:
    """The key of the row to focus after recording one new edit; empty otherwise.

    After a switch, or after many edits, the user stays where they are: the last edit may be at the
    other end of the thread.
    """
    edits = [one for one in transaction.numbers if one in look.thread.log.edits]
    is_one = edits == transaction.numbers[-1:]
    return _visible(look, entry_key(edits[0])) if edits and is_one else ""


def _visible(look: Look, key: Key) -> Key:
    """The key of the row that shows an operation: its fold, or a message it made or acts on."""
    moved = [one.keys[0] for one in look.thread.moves if one.operation == key]
    first, recorded = look.operations[key].first, look.thread.log.edit(key)
    if original_index(first) is not None:
        named: Sequence[Key] = [first]
    else:
        named = named_keys(recorded.edit)[:1] if recorded else ()
    candidates = [key, made_key(int(key[1:]), 0), *moved, *named]
    return next((one for one in candidates if look.thread.holds(one)), "")
