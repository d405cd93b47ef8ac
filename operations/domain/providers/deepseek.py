"""DeepSeek's chat: text alone, and reasoning on every answer (R13).

In thinking mode an answer without `reasoning_content` is refused, an empty one too on some
hosts; outside of it the member is passed over.

Sources: api-docs.deepseek.com (create-chat-completion, thinking_mode).
"""

from threads.domain.message import Role
from threads.domain.part import Thinking

from .chat import compile_chat
from .passes import findings
from .passes.work import Work
from .request import Compiled, Draft
from .rules import Reasoning, Rules
from .turns import Piece, Turn

PLACEHOLDER = "(not recorded)"
RULES = Rules(strategies=frozenset({"deepseek"}), reasoning=Reasoning.WORDS)


def compile_deepseek(draft: Draft) -> Compiled:
    """The body of `POST /chat/completions`."""
    return compile_chat(draft, RULES, _with_reasoning, gives_text=True)


def _with_reasoning(turn: Turn, work: Work) -> None:
    """Gives an answer its reasoning as one text, or a placeholder (R13)."""
    if turn.role is not Role.ASSISTANT:
        return
    turn.joined = (Thinking,)
    if not any(isinstance(piece.part, Thinking) for piece in turn.pieces):
        work.found(findings.NO_REASONING, turn.pieces[0])
        turn.pieces.insert(0, Piece(Thinking(PLACEHOLDER)))
