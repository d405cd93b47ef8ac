"""Data sets of conversations."""

from . import sharegpt

FORMATS = (sharegpt.FORMAT,)
