"""The messages that a response is, whichever provider's it is."""

from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.gemini import messages as gemini
from threads.domain.formats.io.streams.stream import JSONObject
from threads.domain.formats.kit.calls import OpenCalls
from threads.domain.formats.openai import messages as chat
from threads.domain.formats.openai import request as responses
from threads.domain.message import Message

STRATEGIES = {
    "openai": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
}
"""What messages of a form are parsed by."""
_READERS = {
    "openai": chat.read_reply,
    "anthropic": anthropic.read_reply,
}


def read_reply(form: str, response: JSONObject, calls: str = "call_") -> list[Message]:
    """The messages of a response that came at once; none where it says nothing.

    `calls` begins the ids of calls that bring none. Raises Invalid where it isn't understood.
    """
    if form == "openai-responses":
        return responses.read_reply(response)
    if form == "gemini":
        message = gemini.read_reply([response], OpenCalls(calls))
    else:
        message = _READERS[form](response)
    return [message] if message is not None else []
