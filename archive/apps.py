from django.apps import AppConfig


class ArchiveConfig(AppConfig):
    name = "archive"

    def ready(self) -> None:
        from operations.context.layers import register_layer
        from operations.domain.context.layers import MEMOS
        from operations.tools import register
        from threads.sessions import erasing

        from .entries.store import forget
        from .memos import words_for_context
        from .tools import TOOLS

        register(TOOLS)
        register_layer(MEMOS, words_for_context)
        erasing.register_forgetting(forget)
