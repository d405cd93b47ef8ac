"""What the model would see, as the messages and bodies that files are written of."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from operations.context.services import Context
from operations.domain.context.layers import SYSTEM
from operations.domain.providers.outgoing import Outgoing
from operations.domain.providers.turns import Piece, Turn
from operations.domain.tree.key import Key
from operations.messages.reader import MessageText
from threads.domain.formats.io import json_text
from threads.domain.message import Message, Role
from threads.domain.part import Text

BATCH = 500


def request_body(context: Context) -> Iterator[bytes]:
    """The request as the context shows it, a message a line."""
    separator = b"{"
    for name, value in context.compiled.request.items():
        yield separator + json_text.dump(name) + b": "
        separator = b", "
        if value is not context.compiled.messages:
            yield json_text.dump(value)
            continue
        yield b"["
        gap = b"\n"
        for message in context.compiled.messages:
            yield gap + json_text.dump(message)
            gap = b",\n"
        yield b"\n]"
    yield b"}\n"


def written_messages(context: Context) -> Iterator[Message]:
    """What is written of each message, once the provider's rules have been seen to.

    Usage is that of requests that were sent: from the first change on nobody knows it.
    """
    assembly, compiled = context.assembly, context.compiled
    if compiled.prompt:
        yield Message(role=Role.SYSTEM, parts=(Text(compiled.prompt),))
    said = read(context, (message.key for message in assembly.messages))
    for turn in compiled.turns:
        for _, pieces in groupby(_joined(turn), key=lambda piece: piece.key):
            found = list(pieces)
            text = said.get(found[0].key or "")
            usage = text.original.usage if text and text.original else None
            yield Message(
                role=turn.role,
                parts=tuple(piece.part for piece in found),
                name=turn.name,
                model=_model(text),
                created_at=text.original.row.created_at
                if text and text.original
                else None,
                usage=usage if found[0].place < assembly.intact else None,
            )


def _joined(turn: Turn) -> Sequence[Piece]:
    """The pieces of a turn; as those of its first message where they are written as one text."""
    if not any(len(turn.texts(kind)) > 1 for kind in turn.joined):
        return turn.pieces
    first = turn.pieces[0]
    return [first._replace(part=part) for part in turn.written]


def assembled_messages(context: Context) -> Iterator[Message]:
    """The prompt and the layers, then the messages, before they are compiled."""
    yield from prompt_of(context)
    messages = context.assembly.messages
    for start in range(0, len(messages), BATCH):
        batch = messages[start : start + BATCH]
        said = read(context, (message.key for message in batch))
        yield from (sent_message(message, said.get(message.key)) for message in batch)


def prompt_of(context: Context) -> Iterator[Message]:
    """The system prompt and the other layers, as messages of the system."""
    for layer in context.assembly.layers:
        if layer.name == SYSTEM:
            yield from map(as_read, read(context, layer.keys).values())
        else:
            yield Message(role=Role.SYSTEM, parts=(Text(layer.text),))


def read(context: Context, keys: Iterable[Key]) -> dict[Key, MessageText]:
    """What messages read in the thread that is sent."""
    return context.inputs.reader.effective(keys)


def sent_message(message: Outgoing, text: MessageText | None) -> Message:
    """A message of the context, with what is known of its original."""
    row = text.original.row if text and text.original else None
    return Message(
        role=message.role,
        parts=message.parts,
        name=message.name,
        model=_model(text),
        created_at=row.created_at if row else None,
    )


def as_read(text: MessageText) -> Message:
    """A message as it reads in the thread."""
    row = text.original.row if text.original else None
    return Message(
        role=text.role,
        parts=text.parts,
        name=text.name,
        model=_model(text),
        created_at=row.created_at if row else None,
    )


def _model(text: MessageText | None) -> str | None:
    return (text.original.row.model or None) if text and text.original else None
