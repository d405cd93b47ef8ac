"""One file that holds a whole installation, made while it is in use, and brought back from it."""

from .services import Restored, Taken, back_up, restore

__all__ = ["Restored", "Taken", "back_up", "restore"]
