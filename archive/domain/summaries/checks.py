"""Checks that refuse a model's text when it isn't a usable summary."""

import re

_APOLOGY = re.compile(
    r"\s*+(?:"
    r"(?:i(?:'?m| am) (?:very |so |really )?)?sorry,? (?:but )?i\b|i apologi[sz]e|"
    r"(?:unfortunately,? )?i(?: cannot| can't|(?:'?m| am) (?:unable|not able)) |as an ai\b|"
    r"error\s*+(?:[:({\[\d]|$|code\b|occurred\b)|\{?\s*+\"error\"|<html|<!doctype|"
    r"(?:internal server error|bad gateway|service unavailable)\s*+(?:[.:!]|$)|"
    r"rate limit (?:exceeded|reached))",
    re.IGNORECASE,
)
"""Doesn't match what a summary may also begin with, such as “Error handling” or “Rate limiting”."""


def why_useless(summary: str) -> str:
    """Why a model's text isn't a summary of anything; empty if it may be one."""
    if not summary.strip():
        return "The model answered with an empty text."
    if _APOLOGY.match(summary.replace("’", "'")):
        return "The model answered with an error or a refusal instead of a summary."
    return ""


def why_refused(summary: str, *, tokens: int, replaced: int) -> str:
    """Why a model's text can't replace messages of `replaced` tokens; empty if it can."""
    if why := why_useless(summary):
        return why
    if tokens >= replaced:
        return (
            f"The model's summary has {tokens:,} tokens, no fewer than the {replaced:,} "
            "that it would replace."
        )
    return ""
