"""A strict host of OpenAI's form: the chat templates of vLLM, llama.cpp and the like (R16).

One message of the system and that first, speakers in turn, content that is a string, and no
member that the oldest form of the API did not have.
"""

from .chat import compile_chat
from .request import Compiled, Draft
from .rules import Rules

RULES = Rules(bridges=True)


def compile_generic_strict(draft: Draft) -> Compiled:
    """The body of `POST /v1/chat/completions`."""
    return compile_chat(draft, RULES, gives_text=True)
