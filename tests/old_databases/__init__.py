"""Databases that earlier versions have filled, with what these versions read in them.

A folder holds one: the file `NAME`; `blobs`, the files beside it; `answers.json`, what
`answers.read` gave; and `key`, an API key of it. `SECRET` was the server's
secret key. `python -m tests.old_databases FOLDER` makes one with the code at hand.
"""

SECRET = "the secret key of every old database"
NAME = "contextstudio.sqlite3.gz"
