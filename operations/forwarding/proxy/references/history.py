"""The history before a request that continues a response by its id."""

from collections.abc import Sequence
from itertools import islice

from operations.domain.log.log import Log, fold
from operations.domain.log.operation import messages_of
from operations.domain.thread.replay import sent_keys
from operations.domain.tree.key import Key, original_index, original_key, parse_made_key
from operations.log.selectors import load_history
from operations.models import SessionRequest
from threads.domain.formats.format import Heading
from threads.domain.formats.openai.items import bound_call
from threads.domain.formats.openai.items_writing import API, ItemWriter, in_turns
from threads.domain.formats.requests import Form
from threads.domain.message import Message, Role
from threads.models import Session
from threads.store import blobs
from threads.store.originals import load_recorded_at

from . import kept


def history_of(request: SessionRequest) -> list[Form] | None:
    """Everything that a client had said and been answered up to a request, as items.

    Replies are the original items with their ids. None if some of it isn't known or no longer
    exists.
    """
    session, index = request.session, request.reply_index
    if index is None or request.is_rewritten is None:
        return None
    rows = SessionRequest.objects.filter(session=session).order_by("number")
    has_prompt = rows.values_list("has_prompt", flat=True).first()
    if has_prompt is None:
        return None
    log = load_history(session).log
    known = log if log.head == request.head else fold(islice(log.entries, request.head))
    replied = map(original_key, range(request.message_count, index + 1))
    keys = [*sent_keys(request.message_count, known), *replied]
    if log.purged.intersection(keys):
        return None
    messages = _messages(session, keys, known)
    if has_prompt and messages and messages[0].role is Role.SYSTEM:
        # The provider doesn't carry the prompt over from one request to the next.
        keys, messages = keys[1:], messages[1:]
    return _items(session, keys, messages)


def _messages(session: Session, keys: Sequence[Key], log: Log) -> list[Message]:
    """The messages of these keys, as recorded."""
    indexes = [original_index(key) for key in keys]
    originals = load_recorded_at(session, (one for one in indexes if one is not None))
    found: list[Message] = []
    for key, index in zip(keys, indexes, strict=True):
        if index is None:
            number, k = parse_made_key(key) or (0, 0)
            made = messages_of(log.edits[number].edit)[k or 0]
            found.append(Message(role=Role(made.role), parts=made.parts))
        else:
            original = originals[index]
            found.append(Message(role=original.role, parts=original.parts))
    return found


def _items(
    session: Session, keys: Sequence[Key], messages: Sequence[Message]
) -> list[Form]:
    heading = Heading(blob=blobs.read, strategy=session.parsing_strategy)
    writer = ItemWriter(heading, API)
    came = kept.items_of_replies(session, {*map(original_index, keys)})
    found: list[Form] = []
    for turn in in_turns(messages):
        # All are written, because open calls determine the form of their results.
        for (ordinal, _), (_, written) in zip(turn, writer.write(turn), strict=True):
            index = original_index(keys[ordinal])
            items = written if index is None else came.get(index, written)
            # The results in the turn are written anew, and the form of these calls with them.
            is_bound = len(turn) > 1 and any(map(bound_call, items))
            found += written if is_bound else items
    return found
