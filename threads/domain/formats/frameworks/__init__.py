"""Files stored by programs that are built with an agent framework."""

from . import agents_sdk, autogen, letta, pydantic_ai

FORMATS = (
    pydantic_ai.FORMAT,
    autogen.FORMAT,
    agents_sdk.FORMAT,
    *letta.FORMATS,
)
