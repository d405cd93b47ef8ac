"""Values keyed by entry number, shared by all versions of a log.

A log grows by one entry at a time, and every version of it is a value. So its data is in
persistent maps (`tree/map.py`, the structure behind Python's context variables), in which a new
version shares all but the few places that it sets: one more entry costs the same whether it is
the tenth or the hundred thousandth.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar, overload

from operations.domain.tree.map import Map

Value = TypeVar("Value")


_Value_co = TypeVar("_Value_co", covariant=True)


class _Lookup(Protocol[_Value_co]):
    def __getitem__(self, number: int, /) -> _Value_co: ...
    def __contains__(self, number: object, /) -> bool: ...
    def __len__(self) -> int: ...


class Numbered(Mapping[int, Value]):
    """Values keyed by entry number, in the order of the log."""

    __slots__ = ("_last", "_values")

    def __init__(self, values: _Lookup[Value], last: int) -> None:
        """`last` is an upper bound of the numbers in it."""
        self._values = values
        self._last = last

    def __getitem__(self, number: int) -> Value:
        return self._values[number]

    def __contains__(self, number: object) -> bool:
        return number in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[int]:
        return self.after(0)

    def __reversed__(self) -> Iterator[int]:
        numbers = range(self._last, 0, -1)
        return filter(self._values.__contains__, numbers)

    def after(self, number: int) -> Iterator[int]:
        """The numbers greater than a number."""
        return filter(self._values.__contains__, range(number + 1, self._last + 1))


class NumberedSequence(Sequence[Value]):
    """Values that are numbered from 1 without gaps, as a sequence."""

    __slots__ = ("_values",)

    def __init__(self, values: Map[int, Value]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, place: int) -> Value: ...
    @overload
    def __getitem__(self, place: slice) -> list[Value]: ...
    def __getitem__(self, place: int | slice) -> Value | list[Value]:
        if isinstance(place, slice):
            places = range(*place.indices(len(self)))
            return [self._values[each + 1] for each in places]
        return self._values[range(1, len(self) + 1)[place]]

    def __iter__(self) -> Iterator[Value]:
        return map(self._values.__getitem__, range(1, len(self) + 1))

    def __reversed__(self) -> Iterator[Value]:
        return map(self._values.__getitem__, range(len(self), 0, -1))


class Chain(NamedTuple, Generic[Value]):
    """A linked list: the newest value, and the chain of those before it."""

    newest: Value
    rest: "Chain[Value] | None"


def newest_first(chain: Chain[Value] | None) -> Iterator[Value]:
    """The values of a chain, the newest first."""
    while chain is not None:
        yield chain.newest
        chain = chain.rest


def in_order(chain: Chain[Value] | None) -> list[Value]:
    """The values of a chain, the oldest first."""
    return [*newest_first(chain)][::-1]
