"""Databases filled by earlier versions, with what these versions read in them.

A folder holds one: the file `NAME`; `blobs`, its files; `answers.json`, the result of
`answers.read`; and `key`, an API key for it. `SECRET` was the server's secret key. `python -m
tests.old_databases FOLDER` creates one with the current code.
"""

SECRET = "the secret key of every old database"
NAME = "contextstudio.sqlite3.gz"
