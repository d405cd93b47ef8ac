"""Keeping masked what redactions mask in notes, once nothing tells any more what that is."""

from collections.abc import Sequence

from operations.domain.log.mask import mask_words
from operations.messages.reader import masked_in
from operations.models import ScratchpadVersion, StateVersion
from threads.models import Session

from .scratchpads import decode, encode


def mask_for_good(session: Session, indexes: Sequence[int] | None) -> None:
    """Mask for good what notes quote of originals that are destroyed, in the caller's transaction.

    What else they say of them is their authors' and stays (`docs/decisions/0050`). The notes of a
    session that is erased go with it.
    """
    if indexes is None or not (texts := masked_in(session, indexes)):
        return
    for versions in (ScratchpadVersion.objects, StateVersion.objects):
        for row in versions.filter(session=session):
            words = decode(row.content)
            masked = mask_words(words, texts)
            if masked != words:
                versions.filter(pk=row.pk).update(content=encode(masked))
