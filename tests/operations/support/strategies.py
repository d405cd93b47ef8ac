"""Hypothesis strategies: originals, and logs of operations on them, sensible or not.

Hypothesis validates each new strategy, which takes longer than drawing from it, so strategies
needed for every draw are created once.
"""

from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st

from operations.domain.log.entry import Entry
from operations.domain.log.history import redoable, undoable
from operations.domain.log.log import fold
from operations.domain.log.operation import (
    CONTROLS,
    EDITS,
    Accept,
    ActivateTags,
    Amend,
    Condense,
    Condition,
    Digest,
    Edit,
    Insert,
    Operation,
    Purge,
    Redact,
    Redo,
    Reject,
    Replace,
    Resequence,
    Revert,
    Revise,
    Snip,
    Tag,
    Toggle,
    Undo,
)
from operations.domain.tree.key import Key, entry_key, made_key, original_key
from operations.domain.tree.leaf import Leaf, MadeMessage
from operations.domain.tree.span import Span, fingerprint
from threads.domain.part import Text
from threads.domain.text import text_of

ACTORS = ("user:1", "user:2")
TAGS = ("alpha", "beta", "objective:ship")
MALFORMED = (
    "",
    "m",
    "m-1",
    "m00",
    "m٣",
    "m9999999999",
    "o0",
    "o01",
    "o1.",
    "o1.x",
    "x1",
    "o",
    "m1 ",
)

leaves = st.builds(
    Leaf,
    role=st.sampled_from(("system", "user", "assistant", "tool")),
    tokens=st.integers(0, 50),
    group=st.integers(0, 3),
)
threads = st.lists(leaves, min_size=1, max_size=14)
texts = st.text(alphabet="abc xyz\n", min_size=1, max_size=8)
messages = st.builds(
    MadeMessage,
    role=st.sampled_from(("system", "user", "assistant")),
    parts=st.lists(st.builds(Text, texts), min_size=1, max_size=2).map(tuple),
    tokens=st.integers(0, 50),
)
conditions = st.one_of(
    st.just(Condition()),
    st.builds(
        Condition,
        tags=st.lists(st.sampled_from(TAGS[:2]), unique=True, max_size=2).map(tuple),
        objectives=st.sampled_from(((), ("ship",))),
        match=st.sampled_from(("all", "any", "none")),
    ),
)
active_tags = st.none() | st.frozensets(st.sampled_from(TAGS))


booleans = st.booleans()
halves, thirds, sixths = st.integers(0, 1), st.integers(0, 2), st.integers(0, 5)
starts, gains, counts = st.integers(0, 6), st.integers(-3, 3), st.integers(1, 3)
lengths = {True: st.integers(0, 4), False: st.integers(1, 4)}
actors, new_texts = st.sampled_from(ACTORS), st.sampled_from(("", "new"))
kinds_of_edits = st.sampled_from((*EDITS, "insert"))
kinds_of_controls = st.sampled_from((*CONTROLS, "toggle", "any"))
backs = st.sampled_from((Undo, Redo))
letters = st.lists(st.sampled_from("pqr"), min_size=1, unique=True).map(tuple)
activated = st.lists(st.sampled_from(TAGS), unique=True).map(tuple)
numbers = cache(st.integers)
"""Cached strategies for integers between two bounds."""


@cache
def places(count: int, most: int) -> st.SearchStrategy[tuple[int, ...]]:
    """One to `most` of `count` places, at random."""
    some = st.lists(
        st.sampled_from(range(count)), min_size=1, max_size=most, unique=True
    )
    return some.map(tuple)


@cache
def place(count: int) -> st.SearchStrategy[int]:
    """One of `count` places."""
    return st.sampled_from(range(count))


@cache
def runs_of_places(count: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Consecutive places of originals."""
    return st.tuples(numbers(0, count - 1), numbers(1, 6)).map(
        lambda run: tuple(range(run[0], min(count, run[0] + run[1])))
    )


@cache
def runs(count: int) -> st.SearchStrategy[tuple[Key, ...]]:
    """Keys of consecutive originals."""
    return runs_of_places(count).map(lambda run: tuple(map(original_key, run)))


@cache
def choices(count: int, keys: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Places among `keys` keys, the first `count` of them originals': runs, and random ones."""
    run, some = runs_of_places(count), places(keys, 5)
    both = st.tuples(run, some).map(lambda pair: tuple(dict.fromkeys(sum(pair, ()))))
    return st.one_of(run, both, some)


@cache
def several(
    words: st.SearchStrategy[MadeMessage],
) -> st.SearchStrategy[tuple[MadeMessage, ...]]:
    """One to three messages."""
    return st.lists(words, min_size=1, max_size=3).map(tuple)


def made_keys(entries: Sequence[Entry]) -> list[Key]:
    """The keys of folds and messages that the edits among these entries create."""
    keys = []
    for entry in entries:
        made = getattr(entry.operation, "messages", ())
        keys += [
            entry_key(entry.number),
            *(made_key(entry.number, k) for k in range(len(made))),
        ]
    return keys


def targets(
    count: int, entries: Sequence[Entry], *, malformed: bool
) -> st.SearchStrategy[tuple[Key, ...]]:
    """Runs of originals, random originals, and keys that earlier entries created."""
    keys = [original_key(index) for index in range(count)] + made_keys(entries)
    if malformed:
        keys += [*MALFORMED, original_key(count), "o99.0"]
    return choices(count, len(keys)).map(
        lambda chosen: tuple(keys[at] for at in chosen)
    )


@st.composite
def spans(
    draw: st.DrawFn, count: int, entries: Sequence[Entry], *, malformed: bool
) -> Span:
    """A span; in messages that an entry created, usually with the digest of the text."""
    made = {
        made_key(entry.number, k): message
        for entry in entries
        for k, message in enumerate(getattr(entry.operation, "messages", ()))
    }
    keys = [original_key(index) for index in range(count)]
    keys = [*made, *keys, *(MALFORMED if malformed else ())]
    key = keys[draw(place(len(keys)))]
    part, start = draw(halves), draw(starts)
    end = start + draw(lengths[malformed])
    text = "?"
    if key in made and part < len(made[key].parts):
        text = text_of(made[key].parts[part])[start:end]
    return Span(
        key=key,
        part=part,
        start=start,
        end=end,
        sha256=fingerprint(text),
        text=draw(new_texts),
        saved=draw(gains),
    )


@st.composite
def edits(
    draw: st.DrawFn,
    count: int,
    entries: Sequence[Entry] = (),
    *,
    malformed: bool = False,
    words: st.SearchStrategy[MadeMessage] = messages,
) -> Edit:
    """An edit that could follow these entries, creating messages from `words`."""
    keys = draw(targets(count, entries, malformed=malformed))
    condition = draw(conditions)
    made = draw(several(words))
    kind = draw(kinds_of_edits)
    match kind:
        case "tag":
            return Tag(targets=keys, tags=draw(letters), condition=condition)
        case "digest":
            return Digest(targets=keys, messages=made[:1], condition=condition)
        case "revise":
            return Revise(targets=keys, messages=made, condition=condition)
        case "snip":
            return Snip(targets=keys, condition=condition)
        case "condense":
            return Condense(targets=keys[:1], messages=made[:1], condition=condition)
        case "insert":
            after = keys[-1] if draw(thirds) else None
            return Insert(after=after, messages=made, condition=condition)
        case "resequence":
            return Resequence(
                order=tuple(draw(st.permutations(keys))), condition=condition
            )
    one = spans(count, entries, malformed=malformed)
    changed = tuple(draw(one) for _ in range(draw(counts)))
    return (Replace if kind == "replace" else Redact)(
        spans=changed, condition=condition
    )


@st.composite
def controls(
    draw: st.DrawFn, count: int, entries: Sequence[Entry], actor: str
) -> Operation:
    """A control that could follow these entries, of which there is at least one."""
    chosen = [entries[at].number for at in draw(places(len(entries), 2))]
    keys = tuple(map(entry_key, chosen))
    match draw(kinds_of_controls):
        case "toggle":
            return Toggle(operations=keys, active=draw(booleans))
        case "revert":
            return Revert(operations=keys)
        case "accept":
            return Accept(operations=keys)
        case "reject":
            return Reject(operations=keys)
        case "amend":
            return draw(amends(count, entries))
        case "activate_tags":
            return ActivateTags(tags=draw(activated))
        case "purge":
            return Purge(targets=draw(runs(count)))
        case "undo":
            return Undo(entries=undoable(fold(entries), actor))
        case "redo":
            return Redo(entries=redoable(fold(entries), actor))
    return draw(backs)(entries=tuple(chosen))


@st.composite
def amends(draw: st.DrawFn, count: int, entries: Sequence[Entry]) -> Operation:
    """An amendment of an edit among the entries, or another operation if it has no words."""
    entry = entries[draw(place(len(entries)))]
    made = draw(several(messages))
    condition = draw(conditions)
    match entry.operation:
        case Insert(after=after):
            edit: Edit = Insert(after=after, messages=made, condition=condition)
        case Revise(targets=keys):
            edit = Revise(targets=keys, messages=made, condition=condition)
        case Snip(targets=keys):
            edit = Snip(targets=keys, condition=condition)
        case _:
            edit = draw(edits(count, entries))
    return Amend(operation=entry_key(entry.number), edit=edit)


@st.composite
def logs(
    draw: st.DrawFn,
    count: int,
    *,
    malformed: bool = False,
    with_controls: bool = True,
    words: st.SearchStrategy[MadeMessage] = messages,
    most: int = 16,
) -> list[Entry]:
    """Entries of two actors over `count` originals, with proposals and bundles."""
    entries: list[Entry] = []
    for number in range(1, draw(numbers(0, most)) + 1):
        actor = draw(actors)
        if with_controls and entries and draw(thirds) == 0:
            entries.append(Entry(number, draw(controls(count, entries, actor)), actor))
            continue
        edit = draw(edits(count, entries, malformed=malformed, words=words))
        last = entries[-1] if entries else None
        bundle = f"bundle-{number}" if draw(booleans) else None
        if last and last.bundle and last.actor == actor and draw(booleans):
            bundle = last.bundle
        proposed = with_controls and draw(sixths) == 0
        entries.append(Entry(number, edit, actor, bundle, proposed))
    return entries


@st.composite
def sessions(
    draw: st.DrawFn, *, malformed: bool = False, with_controls: bool = True
) -> tuple[list[Leaf], list[Entry]]:
    """Originals, and a log over them."""
    originals = draw(threads)
    return originals, draw(
        logs(len(originals), malformed=malformed, with_controls=with_controls)
    )
