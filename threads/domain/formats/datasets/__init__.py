"""Data sets of conversations."""

from . import alpaca, preferences, sharegpt

FORMATS = (preferences.FORMAT, sharegpt.FORMAT, alpaca.FORMAT)
