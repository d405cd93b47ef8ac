"""The session that the first start shows: a believable task, and what was done to its thread.

`night-sailings.json` is a transcript in the form of OpenAI chat, written for this purpose; it
is imported like any other file. `loading` says what is done to it, and does it.
"""
