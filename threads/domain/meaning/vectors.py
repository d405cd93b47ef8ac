"""Vectors of passages: how they are kept, and how near they are to a question.

A text is kept as the vectors of its passages, one behind another, each number in a byte. It is as
near to a question as the nearest of its passages. numpy comes with the extra `meaning`, so only
what runs with it may import this.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .nearness import NEAR, PARTS

DIMENSIONS = 256
_SCALE = 127

Vectors = NDArray[np.float32]
"""Vectors of length 1, one a row."""
Scores = NDArray[np.int32]


def unit(vectors: Vectors) -> Vectors:
    """The same directions with the length 1; what has no direction stays as it is."""
    lengths = np.sqrt(np.square(vectors).sum(axis=-1, keepdims=True))
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def pack(vectors: Vectors) -> bytes:
    """The vectors of a text's passages as they are kept."""
    return np.rint(vectors * _SCALE).astype(np.int8).tobytes()


def similarities(question: Vectors, kept: Sequence[bytes]) -> Scores:
    """How near each of the texts that are kept so is to a question; none of them is empty."""
    if not kept:
        return np.zeros(0, np.int32)
    rows = np.frombuffer(b"".join(kept), np.int8).reshape(-1, DIMENSIONS)
    of_passages = rows.astype(np.float32) @ (question * (PARTS / _SCALE))
    lengths = np.fromiter((len(one) // DIMENSIONS for one in kept), np.int64, len(kept))
    starts = np.cumsum(lengths) - lengths
    return np.rint(np.maximum.reduceat(of_passages, starts)).astype(np.int32)


def nearest(scores: Scores, ids: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """(score, id) of what is near, the nearest first; of equals that with the higher id."""
    near = np.flatnonzero(scores >= NEAR)
    order = near[np.lexsort((-ids[near], -scores[near]))][:most]
    return list(zip(scores[order].tolist(), ids[order].tolist(), strict=True))
