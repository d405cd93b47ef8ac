"""The embedding model: WordLlama's, which is part of its package.

It is loaded once per process, in a third of a second, and takes about 80 MB. Nothing is downloaded.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import wordllama

from threads.domain.meaning.passages import Stretch, passages
from threads.domain.meaning.vectors import (
    DIMENSIONS,
    Scores,
    Vectors,
    pack,
    similarities,
    unit,
)

NAME = "wordllama l2_supercat 256"
"""Stored beside vectors; those of another model are recomputed."""
_SNIPPET = 160
"""The length of the excerpt shown of a passage, in characters."""


def question_of(words: str) -> Vectors:
    """A question as one vector; of a long question the first passages count."""
    return unit(_vectors([words[a:b] for a, b in passages(words)]).sum(axis=0))


def packed_vectors_of(texts: Sequence[str]) -> list[bytes]:
    """The packed vectors of each text; empty for a text without words."""
    cut = [[text[a:b] for a, b in passages(text)] for text in texts]
    vectors = _vectors([piece for pieces in cut for piece in pieces])
    kept, at = list[bytes](), 0
    for pieces in cut:
        kept.append(pack(vectors[at : at + len(pieces)]))
        at += len(pieces)
    return kept


def scores_of(question: Vectors, texts: Sequence[str]) -> list[int]:
    """How near each text is to a question; 0 for a text without words."""
    kept = packed_vectors_of(texts)
    scores = iter(similarities(question, [one for one in kept if one]).tolist())
    return [next(scores) if one else 0 for one in kept]


def nearest_stretch(question: Vectors, text: str) -> Stretch:
    """The place in a text that is nearest to a question, short enough to be shown."""
    start, end = _nearest(question, text, passages(text))
    first, last = _nearest(
        question, text[start:end], passages(text[start:end], _SNIPPET)
    )
    shown = text[start + first : start + last].rstrip()
    return start + first, start + first + len(shown)


def _nearest(question: Vectors, text: str, stretches: Sequence[Stretch]) -> Stretch:
    if not stretches:
        return 0, 0
    vectors = _vectors([text[start:end] for start, end in stretches])
    return stretches[int(np.argmax(vectors @ question))]


def _vectors(texts: list[str]) -> Vectors:
    if not texts:
        return np.zeros((0, DIMENSIONS), np.float32)
    # The tokenizer doesn't accept lone surrogates.
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    return unit(_model().embed(clean))


@cache
def _model() -> wordllama.WordLlamaInference:
    # The package's own folder: WordLlama looks for the tokenizer elsewhere, and would download it.
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


__all__ = [
    "NAME",
    "Scores",
    "nearest_stretch",
    "packed_vectors_of",
    "question_of",
    "scores_of",
]
