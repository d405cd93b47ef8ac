"""Masks redacted text in notes permanently, before the originals that define it are destroyed."""

from collections.abc import Sequence

from operations.domain.log.mask import mask_words
from operations.messages.reader import masked_in
from operations.models import ScratchpadVersion, StateVersion
from threads.models import Session

from .scratchpads import decode, encode


def mask_for_good(session: Session, indexes: Sequence[int] | None) -> None:
    """Mask permanently what notes quote of redacted text in originals that are being destroyed.

    Runs in the caller's transaction. What else the notes say is their authors' and stays
    (`docs/decisions/0050`). Does nothing if `indexes` is None, as an erased session takes its
    notes with it.
    """
    if indexes is None or not (texts := masked_in(session, indexes)):
        return
    for versions in (ScratchpadVersion.objects, StateVersion.objects):
        for row in versions.filter(session=session):
            words = decode(row.content)
            masked = mask_words(words, texts)
            if masked != words:
                versions.filter(pk=row.pk).update(content=encode(masked))
