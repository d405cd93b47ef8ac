"""What a job is about, by name: whoever has several in the queue tells them apart by it.

And whether that is still there, for who would go to it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from contextstudio.accounts.models import Job

Names = Callable[[Collection[Any]], Mapping[str, str]]
"""The names of these values of an argument, by the values."""
Standing = Callable[[Collection[Any]], Collection[str]]
"""Those of these values of an argument whose things can still be opened."""
_names: dict[str, Names] = {}
_standing: dict[str, Standing] = {}


def register(argument: str, names: Names, standing: Standing | None = None) -> None:
    """Say how the things are called that an argument of jobs tells, and which are still there."""
    _names[argument] = names
    if standing is not None:
        _standing[argument] = standing


def standing(argument: str, values: Collection[Any]) -> Collection[str]:
    """Those of the things that an argument tells which can still be opened."""
    return _standing[argument](values) if values and argument in _standing else ()


def subjects_of(jobs: Iterable[Job]) -> dict[Any, str]:
    """What each of these jobs is about, by its id; those that are about nothing are left out."""
    found: dict[Any, str] = {}
    told = list(jobs)
    for argument, names in _names.items():
        values = {
            job.pk: value for job in told if (value := job.arguments.get(argument))
        }
        called = names(set(values.values())) if values else {}
        found |= {
            job: called[value]
            for job, value in values.items()
            if job not in found and value in called
        }
    return found
