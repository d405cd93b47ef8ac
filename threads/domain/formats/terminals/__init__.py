"""Terminal agents that store a session as JSON Lines, as JSON, or in a database."""

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
