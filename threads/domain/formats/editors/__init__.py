"""Editors with an agent in them."""

from . import continue_dev, cursor, cursor_run, zed

FORMATS = (continue_dev.FORMAT, cursor.FORMAT, cursor_run.FORMAT, zed.FORMAT)
