"""Compares texts with a question: by stored vectors, or else by reading the texts."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.db.models import QuerySet

from contextstudio.database.steps import chunks
from threads.domain.meaning.passages import Stretch
from threads.domain.meaning.vectors import nearest, similarities
from threads.models import Body, BodyVectors, Message

from . import index, model

LIVE = 200
"""How many texts without vectors a question reads itself, newest first."""
_AT_ONCE = 5000
"""How many texts' vectors are in memory at once."""


class Ranking(NamedTuple):
    """(score, body) of the nearest bodies, and how many had no vectors and were not looked at."""

    nearest: list[tuple[int, int]]
    pending: int


class Question:
    """A question that is compared with the meaning of texts."""

    def __init__(self, words: str) -> None:
        self._vector = model.question_of(words)

    def rank(
        self,
        projects: Collection[int],
        most: int,
        *,
        bodies: QuerySet[Message, Any] | None = None,
        gone: QuerySet[Message, Any] | None = None,
    ) -> Ranking:
        """Rank the bodies of some projects: only those in `bodies`, and none in `gone`."""
        kept = index.existing_vectors().filter(project__in=projects)
        later = index.bodies_without_vectors().filter(project__in=projects)
        if bodies is not None:
            kept, later = kept.filter(body__in=bodies), later.filter(pk__in=bodies)
        if gone is not None:
            kept, later = kept.exclude(body__in=gone), later.exclude(pk__in=gone)
        newest = list(later.order_by("-pk").values_list("pk", flat=True)[:LIVE])
        pending = later.count() - LIVE if len(newest) == LIVE else 0
        # Queried after the missing ones: vectors made in between are then in both, not in neither.
        found = self._scores(kept) | self._read(newest)
        ids = np.fromiter(found, np.int64, len(found))
        scores = np.fromiter(found.values(), np.int32, len(found))
        return Ranking(nearest(scores, ids, most), max(0, pending))

    def scores_of_bodies(self, ids: Collection[int]) -> Mapping[int, int]:
        """How near these bodies are; of those without vectors the newest are read."""
        found: dict[int, int] = {}
        later: list[int] = []
        for some in chunks(sorted(set(ids))):
            missing = index.bodies_without_vectors().filter(pk__in=some)
            later += missing.values_list("pk", flat=True)
            # Queried after the missing ones, as in `rank`.
            found |= self._scores(index.existing_vectors().filter(body__in=some))
        return found | self._read(sorted(later)[-LIVE:])

    def scores_of(self, texts: Sequence[str]) -> list[int]:
        """How near these texts are."""
        return model.scores_of(self._vector, texts)

    def nearest_stretch(self, text: str) -> Stretch:
        """The place in a text that is nearest to the question."""
        return model.nearest_stretch(self._vector, text)

    def _scores(self, rows: QuerySet[BodyVectors]) -> dict[int, int]:
        found: dict[int, int] = {}
        kept = rows.order_by().values_list("body_id", "kept")
        for some in chunks(kept.iterator(chunk_size=_AT_ONCE), _AT_ONCE):
            scores = similarities(self._vector, [bytes(vectors) for _, vectors in some])
            found.update(zip((key for key, _ in some), scores.tolist(), strict=True))
        return found

    def _read(self, ids: Collection[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        for some in chunks(ids, LIVE):
            texts = index.texts_of(Body.objects.filter(pk__in=some))
            found.update(zip(texts, self.scores_of([*texts.values()]), strict=True))
        return found
