"""What a write answers: the rows that changed, and the parts around the thread."""

from dataclasses import dataclass, replace

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from contextstudio.accounts.authentication import caller_of
from operations.domain.tree.key import Key
from operations.editor.panels.drawer import Drawer, drawer_of
from operations.editor.panels.meter import meter_of
from operations.editor.panels.minimap import minimap_of
from operations.editor.panels.outline import changed_groups, outline_of
from operations.editor.rows.drawing import joined
from operations.editor.rows.look import Look
from operations.editor.rows.patch import patch_of
from operations.requests import fields_of, number_of

from .requests import earlier, ranges_of


@dataclass(frozen=True, slots=True)
class Notice:
    """What is said of a change, and the key of what was made: the focus belongs there."""

    text: str = ""
    undo: bool = False
    focus: str = ""


def drawer_for(request: HttpRequest, look: Look, *, show_all: bool = False) -> Drawer:
    """The drawer of a look, with the undo of who asks."""
    log_href, panel_href = (
        reverse(f"operations:{name}", args=[look.session.pk])
        for name in ("log", "panel")
    )
    return drawer_of(
        look,
        actor=caller_of(request).actor,
        log_href=log_href,
        all_href=f"{panel_href}?all=1",
        show_all=show_all,
    )


def patch(
    request: HttpRequest,
    look: Look,
    notice: Notice | None = None,
    *,
    opened: frozenset[Key] | None = None,
) -> HttpResponse:
    """All that brings the page that asks from its head to that of the look.

    `opened` are the folds that the page shows open, where they are others than the look's.
    """
    fields = fields_of(request)
    since = number_of(fields, "since", number_of(fields, "head", look.thread.head))
    messages = number_of(fields, "messages", look.thread.message_count)
    old = earlier(look, head=since, message_count=messages)
    if opened is not None:
        old = replace(old, open_folds=opened)
    notice = notice or Notice()
    rows = patch_of(old, look, ranges_of(fields)).html(focus=notice.focus)
    answer = HttpResponse(
        joined([rows, side_panels(request, look, old), _toast(notice)])
    )
    answer["X-Head"] = str(look.thread.head)
    return answer


def side_panels(request: HttpRequest, look: Look, old: Look) -> SafeString:
    """Meter, drawer and counts, each swapped by its id; minimap and outline where they changed."""
    minimap, outline = minimap_of(look), outline_of(look)
    groups = changed_groups(outline_of(old), outline)
    context = {
        "oob": True,
        "meter": meter_of(look),
        "outline": outline if groups is None else None,
        "groups": groups or (),
        "minimap": minimap if minimap != minimap_of(old) else None,
        "drawer": drawer_for(request, look),
        "may_edit": look.may_edit,
        "may_propose": look.may_propose,
        "session": look.session,
    }
    return render_to_string(
        "operations/editor/panels/side_panels.html", context, request
    )


def _toast(notice: Notice) -> SafeString:
    if not notice.text:
        return SafeString()
    toast = render_to_string(
        "parts/toast.html", {"text": notice.text, "undo": notice.undo}
    )
    return format_html('<div hx-swap-oob="beforeend:#toasts">{}</div>', toast)
