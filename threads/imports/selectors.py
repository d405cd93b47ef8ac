"""Reading what was imported: `get_import` is the gate to a report."""

import uuid

from django.db.models import QuerySet

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid, NotFound
from contextstudio.accounts.domain.paging import Page, clamp, decode_cursor, page
from contextstudio.accounts.domain.rights import Right
from threads.models import Import, Source
from threads.store.selectors import holds, newest_first

from .running.outcome import FileOutcome


def get_import(caller: Caller, import_id: uuid.UUID) -> Import:
    """An import, for one who may read in its project. Raises NotFound."""
    found = _visible_imports(caller).filter(pk=import_id).first()
    if found is None:
        raise NotFound("There is no such import.", at=["import_id"])
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
    return newest_first(rows, "created_at", cursor, limit)


def list_files(
    row: Import,
    *,
    query: str = "",
    outcome: str = "",
    cursor: str | None = None,
    limit: int | None = None,
) -> Page[Source]:
    """The files of an import in the order in which they were read.

    `query` is a part of the name or of the session's title, ignoring case. Raises Invalid for an
    outcome that there is not.
    """
    if outcome and outcome not in FileOutcome.values:
        known = ", ".join(FileOutcome.values)
        raise Invalid(f"The outcomes are {known}.", at=["outcome"])
    files = row.sources.select_related("session").order_by("id")
    if query:
        files = files.filter(holds("name", query) | holds("session__title", query))
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
