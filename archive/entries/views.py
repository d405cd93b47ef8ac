"""The archive of a project beside one of its threads: facets, a reading pane, and insertion."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from archive.domain.reference import read_location, write_reference
from archive.inserting import insert_recalled
from archive.recalling import Recalled, look_up
from archive.tray.services import stored_reference, tray_of
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain import errors
from contextstudio.accounts.domain.rights import Right
from contextstudio.templatetags.look import node_id
from operations.domain.tree.key import entry_key
from operations.log.transaction import LogTransaction
from threads.imports import jobs
from threads.models import Session
from threads.search import meaning
from threads.store.selectors import get_session

from .by_meaning import find_entries
from .finding import ArchiveQuery, facets_of
from .selectors import Readable

_ON_A_PAGE = 50
_MAX_LENGTH = 500
"""Most characters of a search or a reference."""
_MAX_TOKENS = 8000
"""The reading pane cuts texts here; the API returns more on request."""
TYPES = {
    "file_view": "File views",
    "grep": "Searches",
    "bash": "Commands",
    "edit": "Edits",
    "other": "Other",
}
"""Labels of the kinds of entries."""
TIMES = {
    "hour": ("Last hour", timedelta(hours=1)),
    "day": ("Last day", timedelta(days=1)),
    "week": ("Last week", timedelta(weeks=1)),
}
_NAMES = ("scope", "type", "tool", "path", "time", "q", "meaning")


@dataclass(frozen=True, slots=True)
class EntryLine:
    """An entry in the list: its reference, and the link that opens it."""

    found: Readable
    ref: str
    href: str
    type_title: str
    pair: str
    """`list` if it is also what is read; see `templates/archive/tray/add.html`."""


@require_safe
def page(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The entries that match the facets, and what `ref` names."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    query = _query(session, request.GET)
    cursor = request.GET.get("cursor") or None
    found, pending = find_entries(caller, query, cursor=cursor, limit=_ON_A_PAGE)
    jobs.enqueue_index_if_free()
    recalled, refused = _recalled(request, session)
    facets = facets_of(caller, query)
    asked = {name: request.GET.get(name, "") for name in _NAMES}
    tray = tray_of(caller, session.pk)
    read = recalled.answer["ref_id"] if recalled else ""
    lines = [_line(one, request.GET, read) for one in found.items]
    context = {
        "session": session,
        "entries": lines,
        "pair": "reading" if any(line.pair for line in lines) else "",
        "asked": asked,
        "has_meaning": meaning.is_on(),
        "pending": pending,
        "types": [(name, TYPES.get(name, name)) for name in facets["type"]],
        "tools": facets["tool"],
        "times": [(name, title) for name, (title, _) in TIMES.items()],
        "is_narrowed": any(asked.values()),
        "tray": tray,
        "collected": tray.references,
        "is_collected": recalled and stored_reference(recalled) in tray.references,
        "here": address_of(request.GET),
        "next": _address(request.GET, cursor=found.next_cursor)
        if found.next_cursor
        else "",
        "recalled": recalled,
        "refused": refused,
        "may_edit": caller.may(Right.PROPOSE, session.project_id),
    }
    return render(request, "archive/archive.html", context)


@require_safe
def recall(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """What `ref` names, to be unfolded where it is mentioned.

    Without htmx, redirects to the archive's page with `ref` opened.
    """
    caller = caller_of(request)
    session = get_session(caller, session_id)
    if "HX-Request" not in request.headers:
        address = reverse("archive:archive", args=[session.pk])
        named = urlencode({"ref": request.GET.get("ref", "")[:_MAX_LENGTH]})
        return redirect(f"{address}?{named}#reading")
    recalled, refused = _recalled(request, session)
    context = {
        "session": session,
        "recalled": recalled,
        "refused": refused,
        "is_collected": recalled
        and stored_reference(recalled) in tray_of(caller, session.pk).references,
    }
    return render(request, "archive/recalled.html", context)


@require_POST
def insert(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """Insert what `ref` names at the end of the thread, with its reference."""
    caller = caller_of(request)
    reference = request.POST.get("ref", "")[:_MAX_LENGTH]
    recorded = insert_recalled(caller, session_id, reference)
    done = f"{inserted(recorded)} at the end of the thread."
    messages.success(request, done, extra_tags="undo")
    return to_inserted(recorded)


def to_inserted(recorded: LogTransaction) -> HttpResponseBase:
    """Redirect to the first inserted or proposed message in its thread."""
    key = entry_key(recorded.numbers[0])
    address = reverse("operations:thread", args=[recorded.session.pk])
    return redirect(f"{address}?at={key}#{node_id(key)}")


def inserted(recorded: LogTransaction) -> str:
    """What was done; a caller who may only propose has not changed the thread yet."""
    return "Proposed an insert" if recorded.waits else "Inserted"


def _query(session: Session, given: QueryDict) -> ArchiveQuery:
    whole = given.get("scope") == "project"
    _, ago = TIMES.get(given.get("time", ""), ("", None))
    return ArchiveQuery(
        session_id=None if whole else session.pk,
        project=session.project.slug,
        content_type=given.get("type", "")[:16],
        tool=given.get("tool", "")[:128],
        path=given.get("path", "")[:_MAX_LENGTH],
        since=timezone.now() - ago if ago else None,
        words=given.get("q", "")[:_MAX_LENGTH],
        meaning=_is_by_meaning(given),
    )


def _is_by_meaning(given: QueryDict) -> bool:
    """Whether search by meaning is on, and was asked for with some words."""
    return bool(given.get("meaning") and given.get("q")) and meaning.is_on()


def _line(found: Readable, given: QueryDict, read: str) -> EntryLine:
    entry = found.entry
    reference = write_reference(
        entry.session.project.slug,
        str(entry.session_id),
        entry.name,
        read_location(entry.location),
    )
    return EntryLine(
        found,
        reference,
        _address(given, ref=reference, cursor=given.get("cursor")),
        TYPES.get(entry.content_type, entry.content_type),
        "list" if reference == read else "",
    )


def address_of(given: QueryDict) -> str:
    """The query string of the page: facets, position in the list, and what is being read."""
    return _address(given, cursor=given.get("cursor"), ref=given.get("ref"))


def _address(given: QueryDict, **others: str | None) -> str:
    kept: Mapping[str, Any] = {name: given.get(name) for name in _NAMES} | others
    return "?" + urlencode({name: value for name, value in kept.items() if value})


def _recalled(
    request: HttpRequest, session: Session
) -> tuple[Recalled | None, errors.DomainError | None]:
    """What `ref` names, or the error if it names nothing; both None without `ref`."""
    reference = request.GET.get("ref", "").strip()[:_MAX_LENGTH]
    if not reference:
        return None, None
    try:
        found = look_up(
            caller_of(request),
            reference,
            max_tokens=_MAX_TOKENS,
            session_id=session.pk,
            counts=False,
        )
        return found, None
    except (errors.NotFound, errors.Invalid, errors.Conflict) as error:
        return None, error
