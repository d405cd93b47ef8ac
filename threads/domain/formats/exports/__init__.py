"""What chat services give their users to take along."""

from . import chatgpt, claude_ai

FORMATS = (chatgpt.FORMAT, claude_ai.FORMAT)
