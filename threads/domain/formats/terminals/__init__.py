"""Agents in the terminal that keep a session as lines of JSON, as JSON, or in a database."""

from . import antigravity, crush, droid, grok, kimi, kiro, qwen_code

FORMATS = (
    *droid.FORMATS,
    grok.FORMAT,
    kimi.FORMAT,
    kiro.FORMAT,
    qwen_code.FORMAT,
    antigravity.FORMAT,
    crush.FORMAT,
)
