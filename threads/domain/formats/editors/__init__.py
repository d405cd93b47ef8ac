"""Editors with an agent in them."""

from . import continue_dev, cursor, zed

FORMATS = (continue_dev.FORMAT, cursor.FORMAT, zed.FORMAT)
