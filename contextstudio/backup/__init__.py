"""Backs up a whole installation into one file while it is in use, and restores it from there."""

from .services import Restored, Taken, back_up, restore

__all__ = ["Restored", "Taken", "back_up", "restore"]
