"""Destroys what was sent and answered of originals that are purged."""

import json
from collections.abc import Collection, Mapping, Sequence

from contextstudio.database.steps import chunks
from operations.domain.log.mask import mask_json
from operations.domain.tree.key import original_key
from operations.messages.reader import masked_in
from operations.models import AnsweredCalls, ReplyItem, SentPiece
from threads.models import Session

from .packing import packed, unpacked

_AT_ONCE = 500


def forget_sent(session: Session, indexes: Sequence[int] | None) -> None:
    """Destroy what was sent of these originals, in the caller's transaction.

    It stays known that they were sent. Other pieces keep their contents, but where they quote
    text of these originals that a redaction masks, they are masked for good, because nothing will
    know that text any more. What was sent of an erased session is deleted with it.
    """
    if indexes is None:
        return
    AnsweredCalls.objects.filter(session=session, index__in=indexes).delete()
    ReplyItem.objects.filter(
        request__session=session, request__reply_index__in=indexes
    ).delete()
    keys = frozenset(map(original_key, indexes))
    told = SentPiece.objects.filter(session=session).values_list("number", "keys")
    made_of_them = {
        number for number, made_of in told.iterator() if not keys.isdisjoint(made_of)
    }
    for some in chunks(made_of_them, _AT_ONCE):
        SentPiece.objects.filter(session=session, number__in=some).update(content=b"")
    if texts := masked_in(session, indexes):
        _mask(session, made_of_them, texts)


def _mask(session: Session, emptied: Collection[int], texts: Mapping[str, str]) -> None:
    pieces = SentPiece.objects.filter(session=session)
    for number, content in pieces.values_list("number", "content").iterator(_AT_ONCE):
        if number in emptied:
            continue
        words = unpacked(bytes(content))
        shown = mask_json(words, texts)
        if shown != words:
            content = packed(json.dumps(shown).encode())
            pieces.filter(number=number).update(content=content)
