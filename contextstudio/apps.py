from importlib import import_module

from django.apps import AppConfig
from django.conf import settings


class ContextStudioConfig(AppConfig):
    name = "contextstudio"
    verbose_name = "ContextStudio"

    def ready(self) -> None:
        from .database.patience import let_migrations_take_their_time
        from .memory import share_arenas

        let_migrations_take_their_time()
        share_arenas()
        # The embedded server never loads Celery; if Celery is used, this names the broker.
        if settings.EXECUTOR == "celery":
            import_module("contextstudio.celery")
