"""What counts tokens is there before a request may write.

A process loads it once, in half a second of a processor or many on a busy machine. Loaded by the
first message that is recorded, within its transaction, it would keep everybody else from writing.
"""

import asyncio

from threads import tokens

from .guard import SAFE_METHODS, Application, Receive, Scope, Send

_SIGNING = "/sign-"
"""What the paths begin with of which nothing is recorded that is counted: in and out."""


def with_tokenizer(application: Application) -> Application:
    """An application whose requests that may write wait until the tokenizer is loaded."""
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
