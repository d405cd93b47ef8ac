"""Samples counted by others: independent readers in an environment of their own, and rules.

`make oracles` compares their counts with ours; where two differ, `explained` says why, or it
fails. `python -m tests.oracles --write` brings the table in docs/formats.md up to date.
"""
