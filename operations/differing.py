"""Where two contexts of a session differ first, and which seals the difference breaks."""

from collections.abc import Iterable, Iterator, Sequence

from .contexts import Context
from .domain.key import Key
from .domain.ledger import Change, Piece, first_change
from .domain.outgoing import Outgoing
from .domain.providers import PROVIDERS
from .domain.providers.seals import broken_seals, sealed_keys
from .domain.touched import Touch


def earliest(before: Context, after: Context) -> Change | None:
    """Where the requests differ first: in what is sent, or in how it had to be compiled."""
    change = first_change(_pieces(before), _pieces(after))
    keys = _recompiled(before, after)
    if not keys or (change and change.key in keys):
        return change
    pieces = list(_pieces(after))
    places = {piece.key: place for place, piece in enumerate(pieces)}
    key = min(keys, key=lambda one: places.get(one, len(pieces)))
    tokens = sum(piece.tokens for piece in pieces[: places.get(key, len(pieces))])
    if change and change.tokens <= tokens:
        return change
    return Change(key, tokens)


def broken(before: Context, after: Context) -> tuple[Key, ...]:
    """Messages whose seals hold in one context, and no longer in another."""
    old, new = before.assembly, after.assembly
    if list(old.layers) == list(new.layers):
        found = broken_seals(old.messages, new.messages, old.sealed).keys
    else:
        held = {message.key for message in old.messages[: old.sealed]}
        found = tuple(key for key in sealed_keys(new.messages) if key in held)
    return _own(after, found)


def first_broken(
    context: Context, found: Sequence[Touch]
) -> dict[Key, tuple[Key, ...]]:
    """The seals that one operation alone breaks: the first one, up to where the next acts."""
    acting = sorted((touch.tokens, touch.operation) for touch in found if touch.key)
    if not acting:
        return {}
    first, operation = acting[0]
    end = acting[1][0] if len(acting) > 1 else context.sent
    tokens = sum(layer.tokens for layer in context.assembly.layers)
    between = []
    for message in context.assembly.messages:
        if first <= tokens < end:
            between.append(message)
        tokens += message.tokens
    return {operation: _own(context, sealed_keys(between))}


def _recompiled(before: Context, after: Context) -> tuple[Key, ...]:
    """What the first message of a request is made of that is not as it was before."""
    old, new = before.compiled, after.compiled
    for place, message in enumerate(new.messages):
        if place >= len(old.messages) or old.messages[place] != message:
            return next((keys for keys in new.origins[place:] if keys), ())
    return ()


def _pieces(context: Context) -> Iterator[Piece]:
    """The layers, then the messages: in this order they are hashed for the cache."""
    for layer in context.assembly.layers:
        key = layer.keys[0] if layer.keys else layer.name
        yield Piece(key, layer.text, layer.tokens)
    yield from map(_piece, context.assembly.messages)


def _piece(message: Outgoing) -> Piece:
    return Piece(message.key, (message.role, message.parts), message.tokens)


def _own(context: Context, keys: Iterable[Key]) -> tuple[Key, ...]:
    """Of messages with seals those that the provider's own models wrote and that bind."""
    rules = PROVIDERS[context.provider].rules
    if not rules.reasoning.is_bound:
        return ()
    written = {
        message.key
        for message in context.assembly.messages
        if message.strategy in rules.strategies
    }
    return tuple(key for key in keys if key in written)
