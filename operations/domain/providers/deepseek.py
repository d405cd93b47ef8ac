"""DeepSeek's chat: text alone, and reasoning on every answer (R13).

In thinking mode an answer without `reasoning_content` is refused, an empty one too on some
hosts; outside of it the member is passed over.

Sources: api-docs.deepseek.com (create-chat-completion, thinking_mode).
"""

from threads.domain.message import Role
from threads.domain.part import Thinking

from .chat import Form, compile_chat, with_text
from .passes import findings
from .passes.draft_turns import Turn, Work
from .request import Compiled, Draft
from .rules import Reasoning, Rules

PLACEHOLDER = "(not recorded)"
RULES = Rules(strategies=frozenset({"deepseek"}), reasoning=Reasoning.WORDS)


def compile_deepseek(draft: Draft) -> Compiled:
    """The body of `POST /chat/completions`."""
    return compile_chat(draft, RULES, _with_reasoning)


def _with_reasoning(form: Form, turn: Turn, work: Work) -> None:
    with_text(form, turn, work)
    if turn.role is not Role.ASSISTANT:
        return
    form.pop("thinking_blocks", None)
    words = [part.text for part in turn.parts if isinstance(part, Thinking)]
    form["reasoning_content"] = "\n\n".join(words) or PLACEHOLDER
    if not words:
        work.found(findings.NO_REASONING, turn.pieces[0])
