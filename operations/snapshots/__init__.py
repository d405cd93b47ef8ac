"""Snapshots: named points of a session, to compare with and to go back to."""
