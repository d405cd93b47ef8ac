"""Rebuilds the word index in PostgreSQL: with all characters, and with pairs for short words.

The old contents are removed along with the mark, so the next job rebuilds the index. Until then
search reads the texts.
"""

from django.db import migrations

RUNS = (
    "CREATE TABLE threads_bodyrun (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " first bigint NOT NULL, last bigint NOT NULL, pairs text NOT NULL,"
    " is_stale boolean NOT NULL DEFAULT false)",
    "ALTER TABLE threads_bodyrun ALTER COLUMN pairs SET STORAGE EXTERNAL",
    "ALTER TABLE threads_bodyrun ALTER COLUMN pairs SET STATISTICS 0",
    "TRUNCATE threads_bodytext",
    "DELETE FROM threads_searchmark",
)


def create(apps, editor):
    if editor.connection.vendor == "postgresql":
        for statement in RUNS:
            editor.execute(statement)


def remove(apps, editor):
    if editor.connection.vendor == "postgresql":
        editor.execute("DROP TABLE threads_bodyrun")
        editor.execute("TRUNCATE threads_bodytext")
        editor.execute("DELETE FROM threads_searchmark")


class Migration(migrations.Migration):
    dependencies = [("threads", "0005_search")]

    operations = [migrations.RunPython(create, remove)]
