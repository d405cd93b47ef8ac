"""What is derived from a whole thread: made once, kept as long as the thread is."""

from collections.abc import Callable, Hashable
from typing import TypeVar
from weakref import WeakKeyDictionary

from operations.domain.thread.thread import Thread

Value = TypeVar("Value")

_kept: "WeakKeyDictionary[Thread, dict[Hashable, object]]" = WeakKeyDictionary()


def derived(thread: Thread, name: Hashable, make: Callable[[], Value]) -> Value:
    """What `make` answers, the first time that it is asked for under this name.

    It must depend on the thread alone, for it is given to everybody who looks at it.
    """
    values = _kept.setdefault(thread, {})
    if name not in values:
        values[name] = make()
    return values[name]  # type: ignore[return-value]  # what was made under this name
