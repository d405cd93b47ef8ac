"""A second replay, written for clarity: nested lists, searched again for every question.

It uses nothing of `operations.domain.tree.tree`, `draft` and `log`, and is as slow as it is plain;
on random logs both must agree.
"""

import re
from dataclasses import dataclass, field

from operations.domain.log.entry import Entry
from operations.domain.log.operation import (
    EDITS,
    Accept,
    ActivateTags,
    Amend,
    Edit,
    Insert,
    Purge,
    Redact,
    Redo,
    Reject,
    Replace,
    Resequence,
    Revert,
    Tag,
    Toggle,
    Undo,
)
from operations.domain.tree.leaf import Leaf, MadeMessage
from operations.domain.tree.span import fingerprint
from threads.domain.text import text_of


@dataclass
class Folded:
    """A fold: the key of its operation, its replacement, and its child nodes."""

    key: str
    messages: tuple[MadeMessage, ...]
    nodes: "list[str | Folded]"


Node = str | Folded


def leaves_of(node: Node) -> list[str]:
    if isinstance(node, str):
        return [node]
    return [leaf for inner in node.nodes for leaf in leaves_of(inner)]


def key_of(node: Node) -> str:
    return node if isinstance(node, str) else node.key


@dataclass
class Model:
    """The thread by the second replay: `top` is its nodes, `status` by operation key."""

    top: list[Node]
    status: dict[str, str] = field(default_factory=dict)
    tags: dict[str, list[str]] = field(default_factory=dict)
    changes: dict[str, list[tuple[int, int, int, str]]] = field(default_factory=dict)
    messages: dict[str, MadeMessage] = field(default_factory=dict)
    anchors: dict[str, str | None] = field(default_factory=dict)
    ways: dict[str, tuple[list[str], set[str]]] = field(default_factory=dict)
    """For each conflict, the operations in its way and the keys it would need."""

    def containers(self, nodes: list[Node] | None = None) -> list[list[Node]]:
        nodes = self.top if nodes is None else nodes
        inner = [
            c for n in nodes if isinstance(n, Folded) for c in self.containers(n.nodes)
        ]
        return [nodes, *inner]

    def all_leaves(self) -> list[str]:
        return [leaf for node in self.top for leaf in leaves_of(node)]

    def all_folds(self) -> list[Folded]:
        return [n for c in self.containers() for n in c if isinstance(n, Folded)]

    def present(self, keys: tuple[str, ...]) -> list[str]:
        there = self.all_leaves()
        return list(dict.fromkeys(key for key in keys if key in there))

    def lowest(self, wanted: list[str]) -> list[Node]:
        """The innermost container that holds all these leaves."""
        holding = [
            nodes
            for nodes in self.containers()
            if set(wanted) <= {leaf for node in nodes for leaf in leaves_of(node)}
        ]
        return holding[-1]

    def fold(
        self, key: str, targets: tuple[str, ...], messages: tuple[MadeMessage, ...]
    ) -> str:
        wanted = self.present(targets)
        if not wanted:
            return "void"

        def largest(nodes: list[Node]) -> list[tuple[list[Node], Node]]:
            found: list[tuple[list[Node], Node]] = []
            for node in nodes:
                if set(leaves_of(node)) <= set(wanted):
                    found.append((nodes, node))
                elif isinstance(node, Folded):
                    found += largest(node.nodes)
            return found

        found = largest(self.top)
        container = found[0][0]
        if any(other is not container for other, _ in found):
            self.ways[key] = self.way(wanted)
            return "conflict"
        children = [node for _, node in found]
        place = next(i for i, node in enumerate(container) if node is children[0])
        container[:] = [
            n for n in container if not any(n is child for child in children)
        ]
        container.insert(place, Folded(key, messages, children))
        self.messages |= {f"{key}.{k}": message for k, message in enumerate(messages)}
        return "applied"

    def way(self, wanted: list[str]) -> tuple[list[str], set[str]]:
        lowest = self.lowest(wanted)
        needs = {
            leaf
            for n in lowest
            if set(leaves_of(n)) & set(wanted)
            for leaf in leaves_of(n)
        }
        inside = [
            f for n in lowest if isinstance(n, Folded) for f in [n, *self.below(n)]
        ]
        folds = [fold.key for fold in inside if set(leaves_of(fold)) & set(wanted)]
        return sorted(folds, key=lambda key: int(key[1:])), needs

    def below(self, fold: Folded) -> list[Folded]:
        return [
            n for c in self.containers(fold.nodes) for n in c if isinstance(n, Folded)
        ]

    def insert(
        self, key: str, after: str | None, messages: tuple[MadeMessage, ...]
    ) -> str:
        at = -1
        if after is not None:
            shown = re.fullmatch(r"(o[1-9][0-9]*)[.][0-9]+", after)
            inside = shown[1] if shown and after not in self.all_leaves() else after
            holding = [i for i, n in enumerate(self.top) if inside in self.keys_in(n)]
            if not holding:
                return "void"
            at = holding[0]
            after = inside
        within = self.keys_in(self.top[at]) if at >= 0 else None
        while at + 1 < len(self.top) and all(
            self.hangs(leaf, within) for leaf in leaves_of(self.top[at + 1])
        ):
            at += 1
        made = [f"{key}.{k}" for k in range(len(messages))]
        self.top[at + 1 : at + 1] = made
        self.anchors |= dict.fromkeys(made, after)
        self.messages |= dict(zip(made, messages, strict=True))
        return "applied"

    def keys_in(self, node: Node) -> set[str]:
        if isinstance(node, str):
            return {node}
        return {node.key}.union(*(self.keys_in(inner) for inner in node.nodes))

    def hangs(self, leaf: str, within: set[str] | None) -> bool:
        """Whether an insert hangs, through inserts, on a message in `within`; None is the top."""
        anchor: str | None = leaf
        while anchor in self.anchors:
            anchor = self.anchors[anchor]
            if anchor is None:
                return within is None
            if within is not None and anchor in within:
                return True
        return False

    def resequence(self, order: tuple[str, ...]) -> str:
        wanted = self.present(order)
        if not wanted:
            return "void"
        container = self.lowest(wanted)
        holders: list[Node] = []
        for leaf in wanted:
            holder = next(node for node in container if leaf in leaves_of(node))
            if not any(holder is other for other in holders):
                holders.append(holder)
        places = [i for i, n in enumerate(container) if any(n is h for h in holders)]
        for place, holder in zip(places, holders, strict=True):
            container[place] = holder
        return "applied"

    def tag(self, targets: tuple[str, ...], tags: tuple[str, ...]) -> str:
        wanted = self.present(targets)
        for leaf in wanted:
            given = self.tags.setdefault(leaf, [])
            given += [tag for tag in tags if tag not in given]
        return "applied" if wanted else "void"

    def change(self, edit: Replace | Redact, purged: set[str]) -> str:
        status = "void"
        there = {*self.all_leaves()}
        for fold in self.all_folds():
            there |= {f"{fold.key}.{k}" for k in range(len(fold.messages))}
        for span in edit.spans:
            if span.key not in there - purged or not 0 <= span.start < span.end:
                continue
            made = self.messages.get(span.key)
            if made:
                parts = [text_of(part) for part in made.parts]
                text = parts[span.part] if span.part < len(parts) else ""
                covered = text[span.start : span.end]
                if span.end > len(text) or fingerprint(covered) != span.sha256:
                    continue
            changes = self.changes.setdefault(span.key, [])
            if any(
                part == span.part and start < span.end and span.start < end
                for part, start, end, _ in changes
            ):
                status = "conflict" if status == "void" else status
                continue
            mask = (
                "[redacted]"
                if isinstance(edit, Redact) and not span.text
                else span.text
            )
            changes.append((span.part, span.start, span.end, mask))
            status = "applied"
        return status


def play(model: Model, key: str, edit: Edit, purged: set[str]) -> str:
    match edit:
        case Tag():
            return model.tag(edit.targets, edit.tags)
        case Insert():
            return model.insert(key, edit.after, edit.messages)
        case Resequence():
            return model.resequence(edit.order)
        case Replace() | Redact():
            return model.change(edit, purged)
        case _:
            return model.fold(key, edit.targets, edit.messages)


def replayed(
    leaves: list[Leaf], entries: list[Entry], tags: frozenset[str] | None
) -> Model:
    """The thread of a log; controls are folded by going through all of them for each edit."""
    live = living(entries)
    purged = {
        key
        for e in entries
        if isinstance(e.operation, Purge)
        for key in e.operation.targets
    }
    if tags is None:
        chosen = [
            e.operation.tags for e in live if isinstance(e.operation, ActivateTags)
        ]
        tags = frozenset(chosen[-1] if chosen else ())
    model = Model([f"m{index}" for index in range(len(leaves))])
    for entry in entries:
        if entry.operation.kind not in EDITS:
            continue
        key = f"o{entry.number}"
        state, edit = standing(entry, live)
        if state == "on" and not met(edit, tags):
            state = "unmet"
        model.status[key] = play(model, key, edit, purged) if state == "on" else state
    return model


def living(entries: list[Entry]) -> list[Entry]:
    """The entries in force: those not undone, and undos reduced to what is still undone."""
    undone = undone_by(entries)
    live = []
    for entry in entries:
        if isinstance(entry.operation, Undo):
            still = [
                n for n in entry.operation.entries if entry.number in undone.get(n, ())
            ]
            live.append(entry._replace(operation=Undo(entries=tuple(still))))
        elif not undone.get(entry.number):
            live.append(entry)
    return live


def undone_by(entries: list[Entry]) -> dict[int, list[int]]:
    undone: dict[int, list[int]] = {}
    for number, operation, *_ in entries:
        for n in operation.entries if isinstance(operation, Undo | Redo) else ():
            if isinstance(operation, Redo):
                undone[n] = undone.get(n, [])[:-1]
            elif n < number and not isinstance(
                entries[n - 1].operation, Undo | Redo | Purge
            ):
                undone[n] = [*undone.get(n, []), number]
    return undone


def standing(entry: Entry, live: list[Entry]) -> tuple[str, Edit]:
    key, edit = f"o{entry.number}", entry.operation
    waits, state = "proposed" if entry.proposed else "", "on"
    for control in live:
        match control.operation:
            case Undo(entries=numbers) if entry.number in numbers:
                state = "reverted"
            case Revert(operations=keys) if key in keys:
                state = "reverted"
            case Toggle(operations=keys, active=True) if key in keys:
                state = "on"
            case Toggle(operations=keys) if key in keys and state == "on" and not waits:
                state = "off"
            case Accept(operations=keys) if key in keys and state != "reverted":
                waits = ""
            case Reject(operations=keys) if (
                key in keys and state != "reverted" and waits
            ):
                waits = "rejected"
            case Amend(operation=named, edit=words) if named == key and same_places(
                edit, words
            ):
                edit = words
    return (state if state == "reverted" or not waits else waits), edit


def same_places(edit: Edit, other: Edit) -> bool:
    def places(each: Edit) -> object:
        match each:
            case Insert():
                return each.after
            case Resequence():
                return each.order
            case Replace() | Redact():
                return [(s.key, s.part, s.start, s.end, s.sha256) for s in each.spans]
            case _:
                return each.targets

    return edit.kind == other.kind and places(edit) == places(other)


def met(edit: Edit, active: frozenset[str]) -> bool:
    condition = edit.condition
    wanted = [*condition.tags, *(f"objective:{name}" for name in condition.objectives)]
    found = [tag in active for tag in wanted]
    if not found:
        return True
    return {"all": all(found), "any": any(found), "none": not any(found)}[
        condition.match
    ]
