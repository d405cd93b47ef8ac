"""Data sets of conversations."""

from . import alpaca, chat_template, preferences, sharegpt

FORMATS = (
    preferences.FORMAT,
    sharegpt.FORMAT,
    alpaca.FORMAT,
    chat_template.FORMAT,
)
