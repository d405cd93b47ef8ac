"""Data exports of chat services."""

from . import chatgpt, claude_ai, deepseek, grok_com, librechat, open_webui_database

FORMATS = (
    deepseek.FORMAT,
    chatgpt.FORMAT,
    claude_ai.FORMAT,
    open_webui_database.FORMAT,
    librechat.FORMAT,
    grok_com.FORMAT,
)
