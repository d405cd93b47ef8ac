from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "contextstudio.accounts"
    label = "accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        # Models can be imported only now.
        from .jobs import canary, housekeeping, register
        from .keys import request_log

        housekeeping.register(request_log.clean)
        register(canary.KIND, lambda context: {}, title="Check that workers answer")
