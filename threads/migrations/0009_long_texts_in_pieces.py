"""Rebuilds the word index in SQLite: long texts are indexed in pieces, with ids of another kind.

The mark is removed, so the next job rebuilds the index. Until then search reads the texts.
"""

from django.db import migrations


def empty(apps, editor):
    if editor.connection.vendor != "sqlite":
        return
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'threads_bodytext'")
        if cursor.fetchone():
            cursor.execute(
                "INSERT INTO threads_bodytext(threads_bodytext) VALUES('delete-all')"
            )
            cursor.execute("DELETE FROM threads_searchmark")


class Migration(migrations.Migration):
    dependencies = [("threads", "0008_deleted_sessions_keep_their_ids")]

    operations = [migrations.RunPython(empty, empty)]
