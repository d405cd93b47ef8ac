"""What the model would see, as request bodies, messages and folds to write to a file."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

from operations.context.services import Context
from operations.domain.context.layers import SYSTEM
from operations.domain.providers.request import Outgoing
from operations.domain.providers.turns import Turn, TurnPart
from operations.domain.thread.node import FoldNode, MessageNode, Node
from operations.domain.tree.key import Key
from operations.log.selectors import load_history
from operations.messages.reader import MessageText
from threads.domain.formats.documents import html
from threads.domain.formats.io import json_text
from threads.domain.formats.summaries import SUMMARY
from threads.domain.message import Message, Role
from threads.domain.part import Text

BATCH = 500


def request_body(context: Context) -> Iterator[bytes]:
    """The request as the context shows it, one message per line."""
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
    """Yield the messages as compiled by the provider's rules.

    Usage is that of requests that were really sent; from the first change on it is unknown.
    """
    assembly, compiled = context.assembly, context.compiled
    if compiled.prompt:
        yield Message(role=Role.SYSTEM, parts=(Text(compiled.prompt),))
    said = _read(context, (message.key for message in assembly.messages))
    for turn in compiled.turns:
        for _, pieces in groupby(_joined(turn), key=lambda piece: piece.key):
            found = list(pieces)
            text = said.get(found[0].key or "")
            original = text.original if text else None
            is_intact = context.built.signed.hold(found[0].place)
            yield Message(
                role=turn.role,
                parts=tuple(piece.part for piece in found),
                name=turn.name,
                model=(original.row.model or None) if original else None,
                created_at=original.row.created_at if original else None,
                usage=original.usage if original and is_intact else None,
            )


def _joined(turn: Turn) -> Sequence[TurnPart]:
    """The pieces of a turn; if texts are joined, all count as pieces of its first message."""
    if not any(len(turn.texts(kind)) > 1 for kind in turn.joined):
        return turn.pieces
    first = turn.pieces[0]
    return [first._replace(part=part) for part in turn.written]


def assembled_messages(context: Context) -> Iterator[Message]:
    """Yield the prompt and the layers, then the messages, before they are compiled.

    A digest becomes a framed user message, as it does for a provider that allows no system message
    there: in the file it is no operation, and a reader would take a system message for an
    instruction.
    """
    yield from prompt_of(context)
    messages = context.assembly.messages
    for start in range(0, len(messages), BATCH):
        batch = messages[start : start + BATCH]
        said = _read(context, (message.key for message in batch))
        for message in batch:
            yield _message(_as_history(message), said.get(message.key))


def _as_history(message: Outgoing) -> Outgoing:
    """The message; a digest becomes a framed user message, except one in a client's own words."""
    if message.kind != "digest" or message.role is not Role.SYSTEM:
        return message
    words = "\n\n".join(part.text for part in message.parts if isinstance(part, Text))
    others = (part for part in message.parts if not isinstance(part, Text))
    parts = (Text(SUMMARY.format(words)), *others)
    return message._replace(role=Role.USER, parts=parts)


def prompt_of(context: Context) -> Iterator[Message]:
    """The system prompt and the other layers, as system messages."""
    for layer in context.assembly.layers:
        if layer.name == SYSTEM:
            said = _read(context, layer.keys).values()
            yield from (_message(text, text) for text in said)
        else:
            yield Message(role=Role.SYSTEM, parts=(Text(layer.text),))


def _read(context: Context, keys: Iterable[Key]) -> dict[Key, MessageText]:
    """The messages as they read in the thread that is sent."""
    return context.inputs.reader.effective(keys)


def _message(said: Outgoing | MessageText, text: MessageText | None) -> Message:
    """A message with the metadata of its original, if it has one."""
    row = text.original.row if text and text.original else None
    return Message(
        role=said.role,
        parts=said.parts,
        name=said.name,
        model=(row.model or None) if row else None,
        created_at=row.created_at if row else None,
    )


# As an HTML page, in which folds contain what they hide


def with_folds(context: Context) -> Iterator[html.Item]:
    """Yield what is sent, each fold followed by its children.

    Nodes of which a window or a slice sends nothing are left out, as they are from the request.
    """
    sent: dict[Key, list[Outgoing]] = {}
    for message in context.assembly.messages:
        sent.setdefault(message.node, []).append(message)
    yield from prompt_of(context)
    # An explicit stack: folds may be nested more deeply than Python allows recursion.
    around = [_nodes(context, context.thread.window)]
    while around:
        found = next(around[-1], None)
        if found is None:
            around.pop()
            if around:
                yield html.CLOSED
            continue
        node, said = found
        if len(around) > 1:
            shown = [_message(said[key], said[key]) for key in _keys(node)]
        else:
            shown = [_message(one, said.get(one.key)) for one in sent.get(node.key, ())]
            if not shown and (isinstance(node, MessageNode) or node.messages):
                continue
        if isinstance(node, FoldNode):
            yield _opened(context, node, shown)
            around.append(_nodes(context, partial(context.thread.children, node.key)))
        else:
            yield from shown


def _opened(context: Context, fold: FoldNode, shown: list[Message]) -> html.Opened:
    count = f"{fold.leaves:,} message{'' if fold.leaves == 1 else 's'}"
    return html.Opened(
        kind=fold.kind,
        title=load_history(context.session).title(int(fold.operation[1:])),
        note=f"{count}, {fold.tokens_before:,} tokens, replaced by "
        f"{fold.tokens_after:,} tokens",
        shown=tuple(shown),
    )


def _nodes(
    context: Context, window: Callable[[int, int], list[Node]]
) -> Iterator[tuple[Node, Mapping[Key, MessageText]]]:
    """Yield nodes, each with the messages read for its batch."""
    start = 0
    while batch := window(start, BATCH):
        said = _read(context, [key for node in batch for key in _keys(node)])
        yield from ((node, said) for node in batch)
        start += len(batch)


def _keys(node: Node) -> list[Key]:
    """The keys of the messages that a node shows."""
    if isinstance(node, MessageNode):
        return [node.key]
    return [f"{node.key}.{place}" for place in range(len(node.messages))]
