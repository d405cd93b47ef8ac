"""Downloads of a session: its originals, or what the model would see."""

import uuid
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from django.http import StreamingHttpResponse

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.forwarding.rewriting import system_length
from operations.domain.thread.node import MessageNode, Node
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import original_key
from operations.log.selectors import MessageText, load_history, load_thread, load_words
from threads.domain import formats
from threads.domain.formats.documents import html
from threads.domain.formats.format import Heading
from threads.domain.formats.io import json_text
from threads.domain.message import Message, Role
from threads.models import Session
from threads.rendering import standalone
from threads.store import blobs
from threads.store.records import load_record
from threads.store.selectors import load_messages

BATCH = 500


def write(
    session: Session, *, format: str, view: str, export_id: uuid.UUID | None = None
) -> Iterator[bytes]:
    """The file, piece by piece. Raises Invalid at once for a format that can't be written.

    `export_id` is what a file that a tool resumes calls the session; a new one each time.
    """
    if view == "annotated":
        raise Invalid("Export the view original or effective.", at=["view"])
    if format == "html":
        return _page(session, view)
    thread = load_thread(session) if view == "effective" else None
    changed = _first_changed(thread) if thread else _first_masked(session)
    return formats.write(
        format,
        _effective(session, thread) if thread else _originals(session),
        title=session.title,
        model=session.model,
        external_id=session.external_id,
        strategy=session.parsing_strategy,
        blob=blobs.read,
        system=system_length(thread) if thread else None,
        first_changed=changed,
        export_id=export_id,
        tools=_tools(session) if format == "finetuning" else None,
    )


def _tools(session: Session) -> Any:
    """Definitions of tools from the last request that was read with some; None where none was."""
    named = session.events.filter(type__in=("tools", "functions"))
    event = named.select_related("source").order_by("-before_index", "-pk").first()
    record = load_record(event.source, event.record) if event else None
    try:
        return json_text.parse(record.text.encode()) if record else None
    except Invalid:
        return None


def _first_changed(thread: Thread) -> int | None:
    """The first of the messages shown that is not the original of its place, word for word.

    From there on a provider's seals of reasoning are void: they stand for all before them.
    """
    for place, shown in enumerate(thread.effective()):
        if shown.index != place or thread.spans(shown.key):
            return place
    return None


def _first_masked(session: Session) -> int | None:
    """The first original in which something is redacted."""
    masks = load_history(session).log.masks
    if not masks:
        return None
    keys = (original_key(index) for index in range(session.message_count))
    return next((place for place, key in enumerate(keys) if masks.on(key)), None)


def _page(session: Session, view: str) -> Iterator[bytes]:
    """The conversation as a page, its folds with what they hide inside."""
    heading = Heading(
        title=session.title,
        model=session.model,
        blob=blobs.read,
        render=standalone.render_alone,
        styles=standalone.styles(),
    )
    if view == "original":
        return html.write(_originals(session), heading)
    return html.write(_folded(session, load_thread(session)), heading)


def _folded(session: Session, thread: Thread) -> Iterator[html.Item]:
    """The thread's messages and folds, each fold followed by what is in it."""
    rows = load_history(session).rows
    around = [_read(session, thread, thread.window)]
    while around:
        found = next(around[-1], None)
        if found is None:
            around.pop()
            if around:
                yield html.CLOSED
            continue
        node, words = found
        if isinstance(node, MessageNode):
            yield _message(words[node.key])
            continue
        count = f"{node.leaves:,} message{'' if node.leaves == 1 else 's'}"
        yield html.Opened(
            kind=node.kind,
            title=rows[int(node.operation[1:])].title,
            note=f"{count}, {node.tokens_before:,} tokens, in place of which "
            f"{node.tokens_after:,} tokens are sent",
            shown=tuple(_message(words[key]) for key in _keys(node)),
        )
        around.append(_read(session, thread, partial(thread.children, node.key)))


def _read(
    session: Session, thread: Thread, nodes: Callable[[int, int], list[Node]]
) -> Iterator[tuple[Node, dict[str, MessageText]]]:
    """Nodes with the words of what they show, in batches."""
    start = 0
    while batch := nodes(start, BATCH):
        keys = [key for node in batch for key in _keys(node)]
        words = load_words(session, thread, keys)
        yield from ((node, words) for node in batch)
        start += len(batch)


def _keys(node: Node) -> list[str]:
    """The keys of the messages that a node shows."""
    if isinstance(node, MessageNode):
        return [node.key]
    return [f"{node.key}.{place}" for place in range(len(node.messages))]


def response(session: Session, *, format: str, view: str) -> StreamingHttpResponse:
    """The file as a download."""
    kind = formats.WRITERS.get(format)
    export_id = uuid.uuid4()
    pieces = write(session, format=format, view=view, export_id=export_id)
    name = formats.file_name(format, export_id)
    name = name or f"{session.pk}-{view}.{kind.suffix if kind else 'txt'}"
    answer = StreamingHttpResponse(
        pieces, content_type=kind.media_type if kind else "text/plain"
    )
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _originals(session: Session) -> Iterator[Message]:
    for start in range(0, session.message_count, BATCH):
        for original in load_messages(session, start, start + BATCH):
            row = original.row
            yield Message(
                role=original.role,
                parts=original.parts,
                name=row.name or None,
                model=row.model or None,
                source_id=row.external_id or None,
                created_at=row.created_at,
                usage=original.usage,
                partial=row.status == "partial",
            )


def _effective(session: Session, thread: Thread) -> Iterator[Message]:
    shown = thread.effective()
    while batch := list(islice(shown, BATCH)):
        words = load_words(session, thread, [message.key for message in batch])
        yield from (_message(words[message.key]) for message in batch)


def _message(read: MessageText) -> Message:
    """A message as it reads in the thread."""
    row = read.original.row if read.original is not None else None
    return Message(
        role=Role(read.role),
        parts=read.parts,
        name=(row.name or None) if row else None,
        model=(row.model or None) if row else None,
        created_at=row.created_at if row else None,
    )
