"""What apps above this one do once something was imported: they register it here."""

from collections.abc import Callable

from contextstudio.accounts.domain.caller import Caller
from threads.models import Import

Follower = Callable[[Caller, Import], None]
"""Called in the transaction that makes an import visible; what takes long is for a job."""

_followers: list[Follower] = []


def register(follower: Follower) -> None:
    """Let this follow imports from now on, once."""
    if follower not in _followers:
        _followers.append(follower)


def follow(caller: Caller, brought: Import) -> None:
    """Tell everybody of an import that recorded something."""
    for follower in _followers:
        follower(caller, brought)
