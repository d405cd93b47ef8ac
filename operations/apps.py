from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "operations"

    def ready(self) -> None:
        from contextstudio.accounts.jobs import register
        from threads.imports import hooks
        from threads.sessions import erasing, given_tags
        from threads.store import masking

        from .edits import given_tags as tags
        from .find_replace import secrets
        from .forwarding import toolbox
        from .forwarding.sent.forgetting import forget_sent
        from .log.compactions import record
        from .log.rewinds import LoggedCourses
        from .log.selectors import load_payloads
        from .messages.reader import mask_originals, mask_title, masked_places
        from .notes.masking import mask_for_good
        from .snapshots.selectors import mask_for_good as mask_names
        from .tools.offered import ProxyTools

        toolbox.register(ProxyTools())
        masking.register(mask_originals, masked_places)
        masking.register_titles(mask_title)
        hooks.register_recorder(record)
        hooks.register_courses(LoggedCourses())
        given_tags.register(tags.record, tags.load)
        erasing.register(load_payloads)
        erasing.register_forgetting(mask_for_good)
        erasing.register_forgetting(mask_names)
        erasing.register_forgetting(forget_sent)
        register(secrets.KIND, secrets.run_secrets, title="Scan for secrets")
        hooks.register_hook(secrets.look_through)
