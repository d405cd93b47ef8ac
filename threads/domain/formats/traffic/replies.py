"""Reads the messages of a response from any provider."""

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
"""Map of form to the parsing strategy of its messages."""
_READERS = {
    "openai": chat.read_reply,
    "anthropic": anthropic.read_reply,
}


def read_reply(form: str, response: JSONObject, calls: str = "call_") -> list[Message]:
    """The messages of a response without streaming; none if it says nothing.

    `calls` is the prefix of ids for calls without one. Raises Invalid if it isn't understood.
    """
    if form == "openai-responses":
        return responses.read_reply(response)
    if form == "gemini":
        message = gemini.read_reply([response], OpenCalls(calls))
    else:
        message = _READERS[form](response)
    return [message] if message is not None else []
