"""Agents whose session formats need only a module or two."""

from . import aider, amp, cline, copilot_cli, goose_database, pi, specstory

FORMATS = (
    pi.FORMAT,
    copilot_cli.FORMAT,
    cline.FORMAT,
    amp.FORMAT,
    goose_database.FORMAT,
    aider.FORMAT,
    specstory.FORMAT,
)
