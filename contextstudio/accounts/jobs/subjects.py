"""The subject of a job by name, so that the jobs in a queue can be told apart.

Also tells whether the subject still exists, for links to it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from contextstudio.accounts.models import Job

Names = Callable[[Collection[Any]], Mapping[str, str]]
"""Maps values of an argument to names."""
Existing = Callable[[Collection[Any]], Collection[str]]
"""Returns the values of an argument whose objects can still be opened."""
_names: dict[str, Names] = {}
_existing: dict[str, Existing] = {}


def register(argument: str, names: Names, standing: Existing | None = None) -> None:
    """Register how the objects in an argument of jobs are named, and which still exist."""
    _names[argument] = names
    if standing is not None:
        _existing[argument] = standing


def existing(argument: str, values: Collection[Any]) -> Collection[str]:
    """The values of an argument whose objects can still be opened."""
    return _existing[argument](values) if values and argument in _existing else ()


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
