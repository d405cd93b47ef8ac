"""`immutables.Map` on top of the trie of `rpds`, for Pythons without wheels of `immutables`.

It has the methods that this product uses, and is several times slower.
"""

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from typing import Any, Generic, TypeVar, overload

from rpds import HashTrieMap

Name = TypeVar("Name")
Value = TypeVar("Value")
Other = TypeVar("Other")

_ABSENT: Any = object()


class Map(Mapping[Name, Value]):
    """A closed version, which never changes."""

    __slots__ = ("_trie",)

    def __init__(
        self, values: Mapping[Name, Value] | Iterable[tuple[Name, Value]] = ()
    ) -> None:
        self._trie: HashTrieMap[Name, Value] = HashTrieMap(dict(values))

    def __getitem__(self, name: Name, /) -> Value:
        return self._trie[name]

    def __contains__(self, name: object, /) -> bool:
        return name in self._trie

    def __len__(self) -> int:
        return len(self._trie)

    def __iter__(self) -> Iterator[Name]:
        return iter(self._trie)

    def items(self) -> ItemsView[Name, Value]:
        """All names and values, iterated without running Python code for each."""
        return self._trie.items()

    def values(self) -> ValuesView[Value]:
        """All values, in the order of the names, likewise."""
        return self._trie.values()

    def mutate(self) -> "OpenMap[Name, Value]":
        """An open version of this map."""
        return OpenMap(self)

    def changed(
        self, to: Mapping[Name, Value], without: Iterable[Name]
    ) -> "Map[Name, Value]":
        """A version with these values set and these names, which must exist, removed."""
        trie = self._trie.update(to) if to else self._trie
        for name in without:
            trie = trie.remove(name)
        version: Map[Name, Value] = Map()
        version._trie = trie
        return version


class OpenMap(Generic[Name, Value]):
    """An open version: values set in it take precedence over those of the closed one."""

    __slots__ = ("_known", "_set")

    def __init__(self, known: Map[Name, Value]) -> None:
        self._known = known
        self._set: dict[Name, Value] = {}
        """Removed names map to `_ABSENT`."""

    def __getitem__(self, name: Name, /) -> Value:
        value = self.get(name, _ABSENT)
        if value is _ABSENT:
            raise KeyError(name)
        return value

    def __contains__(self, name: Any, /) -> bool:
        return self.get(name, _ABSENT) is not _ABSENT

    def __len__(self) -> int:
        mine = sum(value is not _ABSENT for value in self._set.values())
        return len(self._known) + mine - sum(map(self._known.__contains__, self._set))

    def __setitem__(self, name: Name, value: Value, /) -> None:
        self._set[name] = value

    @overload
    def get(self, name: Name, /) -> Value | None: ...
    @overload
    def get(self, name: Name, default: Other, /) -> Value | Other: ...
    def get(self, name: Name, default: Any = None, /) -> Any:
        """The value of a name, or the default."""
        if name not in self._set:
            return self._known.get(name, default)
        value = self._set[name]
        return default if value is _ABSENT else value

    def pop(self, name: Name, default: Any = _ABSENT, /) -> Any:
        """Remove a name and return its value.

        Raises KeyError if it isn't there and has no default.
        """
        value = self.get(name, default)
        if value is _ABSENT:
            raise KeyError(name)
        self._set[name] = _ABSENT
        return value

    def update(self, values: Mapping[Name, Value], /) -> None:
        """Set values."""
        self._set.update(values)

    def finish(self) -> Map[Name, Value]:
        """The closed version."""
        changes = self._set.items()
        to = {name: value for name, value in changes if value is not _ABSENT}
        gone = (name for name, value in changes if value is _ABSENT)
        return self._known.changed(to, filter(self._known.__contains__, gone))
