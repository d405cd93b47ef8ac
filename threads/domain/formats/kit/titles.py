"""What names a conversation that nobody named: the first words that a person typed.

Tools write much of their own into a person's messages, and wrap what was typed. Neither makes
a name; a command that was typed does, where no words were.
"""

import re
from collections.abc import Iterable

from threads.domain.formats.io import fields

MACHINE_TEXT = re.compile(
    r"\s*(<(command-|local-command-|bash-|task-notification|system-reminder|user-prompt-)"
    r"|Caveat: |\[Request interrupted|$)"
)
"""How texts of a user begin that no user typed: they name no conversation."""
_WRAPPED = re.compile(r"\s*<(user_query|user_request|task|feedback)>\s*", re.IGNORECASE)
"""How Cursor, Antigravity and Cline begin what was typed."""
_SKILL = re.compile(r"\s*<skill name=\"([^\"\n]{1,80})\"[^>\n]{0,400}>")
"""How pi begins what stands for a skill that was asked for; what was typed follows its end."""
_COMMAND = re.compile(r"<command-name>\s*([^<\n]{1,80}?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>\s*([^<]{1,400}?)\s*</command-args>")


def of_texts(texts: Iterable[str]) -> str:
    """The name that a user's texts give, on one line; an empty one where there are none."""
    fallback = ""
    for text in texts:
        if not MACHINE_TEXT.match(text):
            return fields.one_line(typed(text))
        fallback = fallback or of_command(text)
    return fallback


def typed(text: str) -> str:
    """What a person typed of a text, without the element that a tool put around it."""
    if skill := _SKILL.match(text):
        return text.partition("</skill>")[2].strip() or f"/{skill[1]}"
    opened = _WRAPPED.match(text)
    if opened is None:
        return text
    inner, end, _ = text[opened.end() :].partition(f"</{opened[1]}>")
    return inner if end else text


def of_command(text: str) -> str:
    """The command that a text of Claude Code's says was typed, with its arguments."""
    name = _COMMAND.search(text)
    if name is None:
        return ""
    arguments = _ARGUMENTS.search(text)
    return fields.one_line(f"{name[1]} {arguments[1] if arguments else ''}")
