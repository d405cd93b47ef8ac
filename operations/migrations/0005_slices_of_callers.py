"""A slice belongs to the caller who asked for it: each has its own."""

import django.db.models.deletion
from django.db import migrations, models

_KEPT = (
    "session_id",
    "actor",
    "pending",
    "start",
    "end",
    "include_search_results",
    "max_context_messages",
    "matches",
)


def keep(apps, editor):
    """Those that say whose they are; what is without a caller would be nobody's."""
    old = apps.get_model("operations", "SlicePreference")
    new = apps.get_model("operations", "Slice")
    for values in old.objects.exclude(actor="").values(*_KEPT):
        new.objects.create(**values)


class Migration(migrations.Migration):
    dependencies = [
        ("operations", "0004_staged_operations"),
        ("threads", "0007_the_order_of_arguments"),
    ]

    operations = [
        migrations.CreateModel(
            name="Slice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("actor", models.CharField(max_length=64)),
                ("pending", models.BooleanField(default=False)),
                ("start", models.PositiveIntegerField(null=True)),
                ("end", models.PositiveIntegerField(null=True)),
                ("include_search_results", models.BooleanField(default=False)),
                ("max_context_messages", models.PositiveIntegerField(null=True)),
                ("matches", models.JSONField(default=list)),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="threads.session",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("session", "actor"), name="one_slice_per_caller"
                    )
                ]
            },
        ),
        migrations.RunPython(keep, migrations.RunPython.noop),
        migrations.DeleteModel(name="SlicePreference"),
    ]
