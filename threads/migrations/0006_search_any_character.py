"""The index of words in PostgreSQL anew: of all characters, and of pairs for short words.

What is there is taken out; without its mark the index is made anew by the next job, and until
then search reads the texts.
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
