"""Copilot Chat in VS Code: its sessions, and the logs of its requests."""

from . import replay, session

FORMATS = (session.FORMAT, replay.FORMAT)
