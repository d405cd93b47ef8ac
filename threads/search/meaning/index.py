"""The vectors of bodies, computed after messages are recorded, as the word index is.

`MeaningMark.through` says up to which body vectors exist. Of the texts since then, the newest are
read by each search; older ones wait for the job.
"""

from collections.abc import Iterator, Mapping

from django.db import transaction
from django.db.models import QuerySet

from contextstudio.database.steps import chunks
from threads.domain.body import decode_parts
from threads.domain.text import whole_text
from threads.models import Body, BodyVectors, MeaningMark
from threads.search.bodies import BODIES

from . import model

WORTH_A_JOB = 200
"""How many texts without vectors are worth a job."""
_AT_ONCE = 100
"""How many texts are embedded and written at once."""
_DELETED_AT_ONCE = 1000


def existing_vectors() -> QuerySet[BodyVectors]:
    """The existing vectors of the model in use."""
    rows = BodyVectors.objects.all()
    return rows if _is_of_this_model() else rows.none()


def bodies_without_vectors() -> QuerySet[Body]:
    """The bodies without vectors, recorded since vectors were last computed."""
    if not _is_of_this_model():
        return Body.objects.all()
    return Body.objects.filter(pk__gt=_through(), vectors=None)


def count_behind(most: int) -> int:
    """How many bodies may have no vectors yet, counting up to `most`."""
    since = (
        Body.objects.filter(pk__gt=_through())
        if _is_of_this_model()
        else bodies_without_vectors()
    )
    return len(since.order_by().values_list("pk", flat=True)[:most])


def texts_of(bodies: QuerySet[Body]) -> Mapping[int, str]:
    """The texts of bodies by id."""
    rows = bodies.values_list("pk", "content")
    return {key: whole_text(decode_parts(bytes(content))) for key, content in rows}


def catch_up() -> Iterator[int]:
    """Compute missing vectors in small transactions; yields how many after each.

    The mark moves as that of the word index does, and for the same reason.
    """
    yield from _begin()
    last, writer = BODIES.database.last(), BODIES.database.next_writer()
    yield from _make(last)
    if BODIES.database.all_ended_before(writer):
        yield from _make(last)
        with transaction.atomic():
            mark = _mark()
            if mark.model == model.NAME:
                mark.through = max(mark.through, last)
                mark.save(update_fields=["through"])


def _begin() -> Iterator[int]:
    """Delete the vectors of another model."""
    with transaction.atomic():
        if _mark().model == model.NAME:
            return
    rows = BodyVectors.objects.order_by("pk").values_list("pk", flat=True)
    while some := list(rows[:_DELETED_AT_ONCE]):
        BodyVectors.objects.filter(pk__in=some).delete()
        yield 0
    with transaction.atomic():
        mark = _mark()
        mark.model, mark.through = model.NAME, 0
        mark.save(update_fields=["model", "through"])


def _make(last: int) -> Iterator[int]:
    """Compute missing vectors up to an id without a lock, then write them."""
    ids = (
        bodies_without_vectors()
        .filter(pk__lte=last)
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    for some in chunks(list(ids), _AT_ONCE):
        texts = texts_of(Body.objects.filter(pk__in=some))
        kept = dict(
            zip(texts, model.packed_vectors_of(list(texts.values())), strict=True)
        )
        with transaction.atomic():
            written = _write({key: one for key, one in kept.items() if one})
        yield written


def _write(kept: Mapping[int, bytes]) -> int:
    """Write vectors, except for bodies erased meanwhile; returns how many were written."""
    if _mark().model != model.NAME:
        return 0
    bodies = Body.objects.filter(pk__in=kept).select_for_update(no_key=True)
    rows = [
        BodyVectors(body_id=key, project_id=project, kept=kept[key])
        for key, project in bodies.values_list("pk", "project_id")
    ]
    BodyVectors.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


def _mark() -> MeaningMark:
    """The mark, locked until the transaction ends: one process writes at a time."""
    MeaningMark.objects.get_or_create(pk=1)
    return MeaningMark.objects.select_for_update().get(pk=1)


def _is_of_this_model() -> bool:
    return MeaningMark.objects.filter(model=model.NAME).exists()


def _through() -> int:
    return MeaningMark.objects.values_list("through", flat=True).first() or 0
