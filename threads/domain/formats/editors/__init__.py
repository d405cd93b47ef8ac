"""Editors with a built-in agent."""

from . import continue_dev, cursor, cursor_run, zed

FORMATS = (continue_dev.FORMAT, cursor.FORMAT, cursor_run.FORMAT, zed.FORMAT)
