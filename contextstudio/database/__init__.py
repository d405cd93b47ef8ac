"""SQLite with a queue of writers, and what both databases need under load.

As Django's ENGINE this is Django's own backend for SQLite, with one difference: the writers of one
process queue up for their turn (docs/decisions/0072-a-line-of-writers.md).
"""
