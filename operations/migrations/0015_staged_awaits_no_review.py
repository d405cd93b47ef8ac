from django.db import migrations


def forget(apps, schema_editor):
    """Have the numbers of sessions counted again in which something was staged: it was counted as proposed."""
    staged = apps.get_model("operations", "LogEntry").objects.filter(staged=True)
    sessions = apps.get_model("threads", "Session").objects
    sessions.filter(pk__in=staged.values("session")).update(overview=None)


class Migration(migrations.Migration):

    dependencies = [
        ("operations", "0014_other_choices"),
    ]

    operations = [
        migrations.RunPython(forget, migrations.RunPython.noop),
    ]
