"""What programs keep that are built with a library for agents."""

from . import agents_sdk, autogen, letta, pydantic_ai

FORMATS = (
    pydantic_ai.FORMAT,
    autogen.FORMAT,
    agents_sdk.FORMAT,
    *letta.FORMATS,
)
