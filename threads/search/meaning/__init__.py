"""Search by meaning: an optional feature, off unless the operator switches it on.

Nothing of it is imported before it is used: call `require_on` first.
"""

from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from django.conf import settings

from contextstudio.accounts.domain.errors import Conflict

if TYPE_CHECKING:
    from .question import Question

SETTING = "CONTEXTSTUDIO_MEANING_SEARCH"
INSTALLING = "pip install --requirement requirements-meaning.lock"


def is_on() -> bool:
    """Whether messages can be found by meaning."""
    return settings.MEANING_SEARCH and _is_installed()


def require_on() -> None:
    """Raise Conflict if search by meaning is off, saying how to switch it on."""
    facts = {"setting": SETTING}
    if not settings.MEANING_SEARCH:
        raise Conflict(
            f"Search by meaning is off here. The operator switches it on with {SETTING}=1.",
            at=["meaning"],
            code="meaning_search_off",
            facts=facts,
        )
    if not _is_installed():
        raise Conflict(
            f"{SETTING} is set, but what it needs is not installed: {INSTALLING}.",
            at=["meaning"],
            code="meaning_search_not_installed",
            facts=facts,
        )


def make_question(words: str) -> "Question":
    """A question, ready to be compared with texts. Raises Conflict if search by meaning is off."""
    require_on()
    from .question import Question

    return Question(words)


def is_worth_a_job() -> bool:
    """Whether enough texts have no vectors yet to be worth a job."""
    if not is_on():
        return False
    from . import index

    return index.count_behind(index.WORTH_A_JOB) >= index.WORTH_A_JOB


def is_behind() -> bool:
    """Whether any text has no vectors yet."""
    if not is_on():
        return False
    from . import index

    return index.count_behind(1) > 0


def catch_up() -> Iterator[int]:
    """Compute missing vectors in small transactions; yields how many after each."""
    if is_on():
        from . import index

        yield from index.catch_up()


@cache
def _is_installed() -> bool:
    return find_spec("wordllama") is not None
