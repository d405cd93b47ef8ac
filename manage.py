#!/usr/bin/env python
"""Django's command line, with one sentence instead of a traceback for what is no bug."""

import gc
import os
import sys

_LASTING = (["serve"], ["work"])
"""The commands that run on when the database is away: their log says why it is."""


def main() -> None:
    """Run a command; exit with 1 and the sentence of a refusal, with 130 on Ctrl+C."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(130)


def _run() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError, connection

    from contextstudio.accounts.domain.errors import DomainError

    try:
        _load()
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except DomainError as refusal:
        # What is wrong with a shape says nothing without its place.
        places = [(".".join(map(str, one.at)), one.message) for one in refusal.errors]
        faults = [": ".join(filter(None, fault)) for fault in places]
        sys.exit("\n".join(faults) or refusal.message)
    except DatabaseError as error:
        from contextstudio.database.outages import cause_of_outage, is_outage, unusable

        if is_outage(error):
            sys.exit(unusable(cause_of_outage(error)))
        if not connection.introspection.table_names():
            sys.exit(
                "The database is empty. Run `manage.py migrate` first, or `serve`."
            )
        raise


def _load() -> None:
    """Load Django, and look for no cycles in what lasts: a quarter of what a command costs."""
    import logging

    import django

    gc.disable()
    django.setup()
    if sys.argv[1:2] not in _LASTING:
        # The pool's attempts to connect: the command ends with the cause.
        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    main()
