"""Drops indexes whose column leads another index of the same table."""

import django.db.models.deletion
from django.db import migrations, models

DOUBLED = [
    ("blob", "project", "accounts.project", "+", "8b83a964"),
    ("body", "project", "accounts.project", "+", "6e030a4a"),
    ("event", "session", "threads.session", "events", "7a6c43e6"),
    ("import", "project", "accounts.project", "+", "65f94671"),
    ("message", "session", "threads.session", "messages", "de74b108"),
    ("rendering", "project", "accounts.project", "+", "61b6572e"),
    ("session", "project", "accounts.project", "sessions", "f246f64c"),
    ("source", "project", "accounts.project", "+", "d61549f8"),
]
"""Model, field, what it points at, its related name, and the end of the index's name."""


def _drop(model: str, field: str, to: str, related_name: str, end: str) -> migrations.SeparateDatabaseAndState:
    """Uses SQL: altering the field would make SQLite rewrite the whole table."""
    table, column = f"threads_{model}", f"{field}_id"
    index = f"{table}_{column}_{end}"
    return migrations.SeparateDatabaseAndState(
        database_operations=[
            migrations.RunSQL(
                f'DROP INDEX IF EXISTS "{index}"',
                f'CREATE INDEX "{index}" ON "{table}" ("{column}")',
            )
        ],
        state_operations=[
            migrations.AlterField(
                model_name=model,
                name=field,
                field=models.ForeignKey(
                    db_index=False,
                    on_delete=django.db.models.deletion.CASCADE,
                    related_name=related_name,
                    to=to,
                ),
            )
        ],
    )


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0001_initial"),
        ("threads", "0003_what_an_import_came_to"),
    ]

    operations = [_drop(*one) for one in DOUBLED]
