from importlib import import_module

from django.apps import AppConfig
from django.conf import settings


class ContextStudioConfig(AppConfig):
    name = "contextstudio"
    verbose_name = "ContextStudio"

    def ready(self) -> None:
        from .database.statement_timeout import lift_timeout_for_migrations
        from .memory import share_arenas

        lift_timeout_for_migrations()
        share_arenas()
        # The embedded server never loads Celery; if Celery is used, this names the broker.
        if settings.EXECUTOR == "celery":
            import_module("contextstudio.celery")
