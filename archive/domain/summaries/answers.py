"""Extracts the answer from a model's text, without its thinking or a code fence around it."""

import re

_THOUGHT = re.compile(r"\s*+<think(ing)?>.*?(?:</think(?(1)ing)>|\Z)", re.DOTALL)
_END_OF_THOUGHT = "</think>"
_FENCED = re.compile(r"```[ \t]*(\w*)[ \t]*\n(.*)\n```", re.DOTALL)
_PROSE = ("markdown", "md")


def answer_in(text: str) -> str:
    """The answer in a model's text.

    Self-hosted models often think aloud first, between tags of which some servers return only the
    closing one, and put the answer in a code block, where no heading would be recognised.
    """
    text = _THOUGHT.sub("", text, count=1) if _THOUGHT.match(text) else text
    before, end, after = text.partition(_END_OF_THOUGHT)
    if end and "<think>" not in before:
        text = after
    text = text.strip()
    if (fenced := _FENCED.fullmatch(text)) is not None:
        is_whole = "```" not in fenced[2]
        if fenced[1].lower() in _PROSE or (not fenced[1] and is_whole):
            return fenced[2].strip()
    return text
