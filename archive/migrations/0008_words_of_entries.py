"""Moves the searchable words of entries to a table of their own, with a word index over it."""

import django.db.models.deletion
from django.db import migrations, models

from archive.entries.words import TABLES
from threads.search.word_index import tables


def create(apps, editor):
    tables.create(editor, TABLES)
    editor.execute(
        "INSERT INTO archive_entrywords (entry_id, words) SELECT id, words"
        " FROM archive_archiveentry WHERE content_id IS NOT NULL ORDER BY archived_at, id"
    )


def remove(apps, editor):
    tables.remove(editor, TABLES)


class Migration(migrations.Migration):
    dependencies = [
        ("archive", "0007_archive_facets"),
    ]

    operations = [
        migrations.CreateModel(
            name="EntryMark",
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
            options={"abstract": False},
        ),
        migrations.CreateModel(
            name="EntryWords",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("words", models.TextField()),
                (
                    "entry",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="words",
                        to="archive.archiveentry",
                    ),
                ),
            ],
        ),
        migrations.RunPython(create, remove),
        migrations.RemoveField(model_name="archiveentry", name="words"),
    ]
