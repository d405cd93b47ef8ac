"""Which folds a person has opened: theirs alone, never part of the log."""

from collections.abc import Iterable

from contextstudio.accounts.domain.caller import Caller
from operations.domain.tree.key import Key
from operations.models import OpenFold
from threads.models import Session


def keep(caller: Caller, session: Session, number: int, *, is_open: bool) -> None:
    """Remember that a person opened or closed a fold; a key's holder has none to remember."""
    if caller.user_id is None:
        return
    known = OpenFold.objects.filter(
        user_id=caller.user_id, session=session, number=number
    )
    if is_open:
        OpenFold.objects.get_or_create(
            user_id=caller.user_id, session=session, number=number
        )
    else:
        known.delete()


def keep_all(
    caller: Caller, session: Session, keys: Iterable[Key], *, is_open: bool
) -> None:
    """The same for many folds at once, by their keys."""
    if caller.user_id is None:
        return
    theirs = OpenFold.objects.filter(user_id=caller.user_id, session=session)
    numbers = {int(key[1:]) for key in keys}
    if not is_open:
        theirs.filter(number__in=numbers).delete()
        return
    OpenFold.objects.bulk_create(
        (
            OpenFold(user_id=caller.user_id, session=session, number=number)
            for number in sorted(numbers)
        ),
        ignore_conflicts=True,
        batch_size=500,
    )
