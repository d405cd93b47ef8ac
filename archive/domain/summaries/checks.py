"""When what a model wrote is no summary, and is refused."""

import re

_APOLOGY = re.compile(
    r"\s*+(?:error\b|\{?\s*+\"error\"|<html|<!doctype|i'?m sorry,? (?:but )?i|i apologi[sz]e|"
    r"i cannot |i can't |i am unable|i'm unable|as an ai\b|internal server error|"
    r"bad gateway|service unavailable|rate limit)",
    re.IGNORECASE,
)


def why_useless(summary: str) -> str:
    """Why a model's text is no summary of anything; empty where it may be one."""
    if not summary.strip():
        return "The model answered with an empty text."
    if _APOLOGY.match(summary):
        return "The model answered with an error or a refusal instead of a summary."
    return ""


def why_refused(summary: str, *, tokens: int, replaced: int) -> str:
    """Why a model's text can't stand for messages of so many tokens; empty where it can."""
    if why := why_useless(summary):
        return why
    if tokens >= replaced:
        return (
            f"The model's summary has {tokens:,} tokens, no fewer than the {replaced:,} "
            "that it would replace."
        )
    return ""
