"""Masking what quotes a session outside of its thread: scratchpad, state, layers."""

from collections.abc import Mapping

from operations.domain.log.mask import Masks, mask_words
from operations.domain.tree.key import original_index
from operations.log.selectors import load_history
from threads.domain.part import Part
from threads.models import Session
from threads.store.selectors import load_recorded_at


def mask_text(session: Session, text: str) -> str:
    """A text with what redactions that are on mask in the session, wherever it is found."""
    if not text or not session.head:
        return text
    masks = load_history(session).log.masks
    return mask_words(text, _covered(session, masks)) if masks else text


def _covered(session: Session, masks: Masks) -> Mapping[str, str]:
    indexes = [
        index for key in masks.keys if (index := original_index(key)) is not None
    ]
    recorded = load_recorded_at(session, indexes)

    def read(key: str) -> tuple[Part, ...]:
        index = original_index(key)
        found = recorded.get(index) if index is not None else None
        return found.parts if found else ()

    return masks.texts(read)
