"""What a job is about, by name: whoever has several in the queue tells them apart by it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from contextstudio.accounts.models import Job

Names = Callable[[Collection[Any]], Mapping[str, str]]
"""The names of these values of an argument, by the values."""
_names: dict[str, Names] = {}


def register(argument: str, names: Names) -> None:
    """Say how the things are called that an argument of jobs tells."""
    _names[argument] = names


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
