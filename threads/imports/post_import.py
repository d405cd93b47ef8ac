"""Hooks that run after an import. Apps above this one register theirs here."""

from collections.abc import Callable

from contextstudio.accounts.domain.caller import Caller
from threads.models import Import

Hook = Callable[[Caller, Import], None]
"""Called in the transaction that makes an import visible, so it must be quick: enqueue a job."""

_hooks: list[Hook] = []


def register(hook: Hook) -> None:
    """Add a hook; one that is registered already is not added again."""
    if hook not in _hooks:
        _hooks.append(hook)


def run_hooks(caller: Caller, brought: Import) -> None:
    for hook in _hooks:
        hook(caller, brought)
