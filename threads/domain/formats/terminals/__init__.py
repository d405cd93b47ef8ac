"""Agents in the terminal that keep a session as lines of JSON."""

from . import antigravity, droid, grok, kimi, qwen_code

FORMATS = (
    *droid.FORMATS,
    grok.FORMAT,
    kimi.FORMAT,
    qwen_code.FORMAT,
    antigravity.FORMAT,
)
