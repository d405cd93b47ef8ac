"""Backs up a whole installation into one file while it is in use, and restores it from there."""

from .services import Backup, Restored, back_up, restore

__all__ = ["Backup", "Restored", "back_up", "restore"]
