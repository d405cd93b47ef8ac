"""Loads the token counter before a request may write.

A process loads it once, in half a second of processor time, or many seconds on a busy machine.
Loaded by the first message to be recorded, within its transaction, it would block all other
writers.
"""

import asyncio

from threads import tokens

from .guard import SAFE_METHODS, Application, Receive, Scope, Send

_SIGNING = "/sign-"
"""Prefix of the paths for signing in and out, which record nothing that is counted."""


def with_tokenizer(application: Application) -> Application:
    """An application whose requests wait for the tokenizer if they may write."""
    is_loaded = False

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal is_loaded
        if not is_loaded and _may_record(scope):
            await asyncio.to_thread(tokens.counter, tokens.DEFAULT)
            is_loaded = True
        await application(scope, receive, send)

    return answer


def _may_record(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] in SAFE_METHODS:
        return False
    return not scope["path"].startswith(_SIGNING)
