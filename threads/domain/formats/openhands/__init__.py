"""OpenHands: evaluations, trajectories, and the events of its SDK."""

from .events import FORMAT

FORMATS = (FORMAT,)
