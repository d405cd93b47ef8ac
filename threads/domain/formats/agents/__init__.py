"""Agents whose sessions take a module or two."""

from . import aider, cline, copilot_cli, pi, specstory

FORMATS = (
    pi.FORMAT,
    copilot_cli.FORMAT,
    cline.FORMAT,
    aider.FORMAT,
    specstory.FORMAT,
)
