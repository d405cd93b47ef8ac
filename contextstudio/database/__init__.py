"""SQLite behind a queue of writers, and what holds for either database under load.

As Django's ENGINE it is Django's own backend for SQLite, with one difference: those of one
process who want to write wait for one another in a line (docs/decisions/0072-a-line-of-writers.md).
"""
