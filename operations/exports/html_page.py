"""The conversation as one page of HTML, its folds with what they hide inside."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from operations.context.services import Context
from operations.domain.providers.outgoing import Outgoing
from operations.domain.thread.node import FoldNode, MessageNode, Node
from operations.domain.tree.key import Key
from operations.log.selectors import load_history
from operations.messages.reader import MessageText
from threads.domain.formats.documents import html
from threads.domain.message import Message

from .effective import as_read, prompt_of, read, sent_message

BATCH = 500


def with_folds(context: Context) -> Iterator[html.Item]:
    """What is sent, each fold followed by what is in it.

    Nodes of which a window or a slice sends nothing are left out, as they are of the request.
    """
    sent: dict[Key, list[Outgoing]] = {}
    for message in context.assembly.messages:
        sent.setdefault(message.node, []).append(message)
    yield from prompt_of(context)
    # A stack of its own: folds may lie in one another deeper than Python's calls may.
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
            shown = [as_read(said[key]) for key in _keys(node)]
        else:
            shown = [
                sent_message(one, said.get(one.key)) for one in sent.get(node.key, ())
            ]
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
        title=load_history(context.session).rows[int(fold.operation[1:])].title,
        note=f"{count}, {fold.tokens_before:,} tokens, replaced by "
        f"{fold.tokens_after:,} tokens",
        shown=tuple(shown),
    )


def _nodes(
    context: Context, window: Callable[[int, int], list[Node]]
) -> Iterator[tuple[Node, Mapping[Key, MessageText]]]:
    """Nodes with what they show, in batches."""
    start = 0
    while batch := window(start, BATCH):
        said = read(context, [key for node in batch for key in _keys(node)])
        yield from ((node, said) for node in batch)
        start += len(batch)


def _keys(node: Node) -> list[Key]:
    """The keys of the messages that a node shows."""
    if isinstance(node, MessageNode):
        return [node.key]
    return [f"{node.key}.{place}" for place in range(len(node.messages))]
