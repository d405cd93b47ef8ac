"""Queries for imports; `get_import` checks who may read a report."""

import uuid
from collections.abc import Iterable, Sequence

from django.db.models import QuerySet

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid, NotFound
from contextstudio.accounts.domain.paging import Page, clamp, decode_cursor, page
from contextstudio.accounts.domain.rights import Right
from contextstudio.database.steps import chunks
from threads.models import Import, Session, Source
from threads.store.selectors import contains_words, newest_first

from .running.outcome import FileOutcome


def get_import(caller: Caller, import_id: uuid.UUID) -> Import:
    """An import, if the caller may read in its project. Raises NotFound."""
    found = _visible_imports(caller).filter(pk=import_id).first()
    if found is None:
        raise NotFound("There is no such import.", at=["import_id"])
    _use_current_titles([found])
    return found


def list_imports(
    caller: Caller,
    *,
    project: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> Page[Import]:
    rows = _visible_imports(caller)
    if project is not None:
        rows = rows.filter(project__slug=project)
    found = newest_first(rows, "created_at", cursor, limit)
    _use_current_titles(found.items)
    return found


def _use_current_titles(rows: Sequence[Import]) -> None:
    """Replace titles in the list of sessions with secrets by their current ones.

    An old title may contain text that was redacted or purged since. Deleted sessions are dropped
    from the list.
    """
    naming = [row for row in rows if row.report.get("secrets")]
    titles = current_titles(
        one["session_id"] for row in naming for one in row.report["secrets"]
    )
    for row in naming:
        row.report["secrets"] = [
            {**one, "title": titles[one["session_id"]]}
            for one in row.report["secrets"]
            if one["session_id"] in titles
        ]


def current_titles(ids: Iterable[str]) -> dict[str, str]:
    """The current titles of sessions by id, without deleted ones."""
    titles = dict[str, str]()
    for some in chunks(sorted(set(ids))):
        found = Session.objects.filter(pk__in=some, deleted_at=None)
        titles |= {str(pk): title for pk, title in found.values_list("pk", "title")}
    return titles


def list_files(
    row: Import,
    *,
    query: str = "",
    outcome: str = "",
    cursor: str | None = None,
    limit: int | None = None,
) -> Page[Source]:
    """The files of an import in the order in which they were read.

    `query` matches part of the name or of the session's title, ignoring case. Raises Invalid for an
    unknown outcome.
    """
    if outcome and outcome not in FileOutcome.values:
        known = ", ".join(FileOutcome.values)
        raise Invalid(f"outcome must be one of {known}.", at=["outcome"])
    files = row.sources.select_related("session").order_by("id")
    if query:
        files = files.filter(
            contains_words("name", query) | contains_words("session__title", query)
        )
    if outcome:
        files = files.filter(outcome=outcome)
    if cursor:
        (last,) = decode_cursor(cursor, 1)
        if not isinstance(last, int):
            raise Invalid("This cursor does not belong to this list.", at=["cursor"])
        files = files.filter(id__gt=last)
    count = clamp(limit)
    return page(list(files[: count + 1]), count, lambda source: [source.pk])


def _visible_imports(caller: Caller) -> QuerySet[Import]:
    projects = [key for key in caller.rights if caller.may(Right.READ, key)]
    return Import.objects.select_related("project").filter(
        project__in=projects, staged_by=None
    )
