"""OpenAI Chat Completions.

Source: platform.openai.com/docs/api-reference/chat/create.
"""

import re

from threads.domain.message import Role

from .chat import compile_chat
from .request import Compiled, Draft
from .rules import PDF, PICTURES, Rules

RULES = Rules(
    strategies=frozenset({"openai"}),
    system_anywhere=True,
    alternates=False,
    images=PICTURES,
    image_urls=True,
    files=PDF,
    opaque={
        Role.USER: frozenset({"input_audio", "file"}),
        Role.ASSISTANT: frozenset({"refusal"}),
    },
    speakers=re.compile(r"[a-zA-Z0-9_-]{1,64}"),
)


def compile_openai(draft: Draft) -> Compiled:
    """The body of `POST /v1/chat/completions`."""
    return compile_chat(draft, RULES)
