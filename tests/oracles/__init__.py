"""Samples counted by others: independent readers in their own environment, and rules.

`make oracles` compares their counts with ours; if two differ, `explained` must say why, else it
fails. `python -m tests.oracles --write` updates the table in docs/formats.md.
"""
