"""Vectors of passages: how they are stored, and how near they are to a query.

A text is stored as the concatenated vectors of its passages, one byte per number. It is as near to
a query as its nearest passage. numpy comes with the extra `meaning`, so only code that runs with
that extra may import this module.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .nearness import NEAR, PARTS

DIMENSIONS = 256
_SCALE = 127

Vectors = NDArray[np.float32]
"""Vectors of length 1, one per row."""
Scores = NDArray[np.int32]


def unit(vectors: Vectors) -> Vectors:
    """The vectors scaled to length 1; zero vectors are unchanged."""
    lengths = np.sqrt(np.square(vectors).sum(axis=-1, keepdims=True))
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def pack(vectors: Vectors) -> bytes:
    """The vectors of a text's passages as they are stored."""
    return np.rint(vectors * _SCALE).astype(np.int8).tobytes()


def similarities(question: Vectors, kept: Sequence[bytes]) -> Scores:
    """How near each stored text is to a query; none of the texts may be empty."""
    if not kept:
        return np.zeros(0, np.int32)
    rows = np.frombuffer(b"".join(kept), np.int8).reshape(-1, DIMENSIONS)
    of_passages = rows.astype(np.float32) @ (question * (PARTS / _SCALE))
    lengths = np.fromiter((len(one) // DIMENSIONS for one in kept), np.int64, len(kept))
    starts = np.cumsum(lengths) - lengths
    return np.rint(np.maximum.reduceat(of_passages, starts)).astype(np.int32)


def nearest(scores: Scores, ids: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """(score, id) of the texts that are near, nearest first; ties put the higher id first."""
    near = np.flatnonzero(scores >= NEAR)
    order = near[np.lexsort((-ids[near], -scores[near]))][:most]
    return list(zip(scores[order].tolist(), ids[order].tolist(), strict=True))
