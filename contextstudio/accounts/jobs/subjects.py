"""The subject of a job by name, so that the jobs in a queue can be told apart.

Also tells whether the subject still exists, for links to it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from contextstudio.accounts.models import Job

Names = Callable[[Collection[Any]], Mapping[str, str]]
"""Maps values of an argument to names."""
Standing = Callable[[Collection[Any]], Collection[str]]
"""Returns the values of an argument whose objects can still be opened."""
_names: dict[str, Names] = {}
_standing: dict[str, Standing] = {}


def register(argument: str, names: Names, standing: Standing | None = None) -> None:
    """Register how the objects in an argument of jobs are named, and which still exist."""
    _names[argument] = names
    if standing is not None:
        _standing[argument] = standing


def standing(argument: str, values: Collection[Any]) -> Collection[str]:
    """The values of an argument whose objects can still be opened."""
    return _standing[argument](values) if values and argument in _standing else ()


def subjects_of(jobs: Iterable[Job]) -> dict[Any, str]:
    """The subjects of jobs by job id; jobs without one are left out."""
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
