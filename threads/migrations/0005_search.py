"""Creates the word index: a table of folded texts with trigrams, in the way of each database.

Without FTS5 (SQLite before 3.43) or without the right to create the extension pg_trgm, search still
works but reads every text. The migration says so, and docs/search.md says how to add the index
later.
"""

import logging

from django.db import DatabaseError, migrations, models, transaction

logger = logging.getLogger("threads.search")

SQLITE = (
    "CREATE VIRTUAL TABLE threads_bodytext USING fts5(folded, content='',"
    " contentless_delete=1, tokenize='trigram case_sensitive 1')",
    "CREATE VIRTUAL TABLE threads_bodytext_terms USING fts5vocab(threads_bodytext, row)",
)
POSTGRESQL = (
    "CREATE TABLE threads_bodytext (body_id bigint PRIMARY KEY, folded text NOT NULL)"
)
TRIGRAMS = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "CREATE INDEX threads_bodytext_trigrams ON threads_bodytext"
    " USING gin (folded gin_trgm_ops)",
)


def create(apps, editor):
    run, name = editor.connection.cursor().execute, editor.connection.alias
    if editor.connection.vendor == "postgresql":
        run(POSTGRESQL)
        wanted = TRIGRAMS
        without = "The extension pg_trgm can't be created by this role: %s"
    else:
        wanted = SQLITE
        without = "This SQLite has no FTS5 with deletable contentless tables: %s"
    try:
        with transaction.atomic(using=name):
            for statement in wanted:
                run(statement)
    except DatabaseError as error:
        logger.warning(f"{without}. Search will read every text (docs/search.md).", error)


def remove(apps, editor):
    run = editor.connection.cursor().execute
    run("DROP TABLE IF EXISTS threads_bodytext_terms")
    run("DROP TABLE IF EXISTS threads_bodytext")


class Migration(migrations.Migration):

    dependencies = [("threads", "0004_without_doubled_indexes")]

    operations = [
        migrations.CreateModel(
            name="SearchMark",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("through", models.BigIntegerField(default=0)),
                ("forgotten", models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.RunPython(create, remove),
    ]
