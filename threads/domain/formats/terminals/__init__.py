"""Agents in the terminal that keep a session as lines of JSON, or in a database."""

from . import antigravity, crush, droid, grok, kimi, qwen_code

FORMATS = (
    *droid.FORMATS,
    grok.FORMAT,
    kimi.FORMAT,
    qwen_code.FORMAT,
    antigravity.FORMAT,
    crush.FORMAT,
)
