"""Mistral's chat: speakers alternate strictly, ids have nine letters or digits (R2, R3).

Sources: docs.mistral.ai/api, the checks of the package mistral-common.
"""

import re

from .chat import compile_chat
from .request import Compiled, Draft
from .rules import PICTURES, Alphabet, Rules

RULES = Rules(
    strategies=frozenset({"mistral"}),
    ids=Alphabet(legal=re.compile(r"[a-zA-Z0-9]+"), longest=9, shortest=9),
    bridges=True,
    images=PICTURES,
    image_urls=True,
)


def compile_mistral(draft: Draft) -> Compiled:
    """The body of `POST /v1/chat/completions`."""
    return compile_chat(draft, RULES, gives_text=True)
