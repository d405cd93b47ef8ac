from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "operations"

    def ready(self) -> None:
        from contextstudio.accounts.jobs import register
        from threads import compactions, erasing, masking
        from threads.imports import afterwards

        from . import jobs
        from .compactions import record
        from .selectors import load_payloads, mask_originals, masked_places

        masking.register(mask_originals, masked_places)
        compactions.register(record)
        erasing.register(load_payloads)
        register(jobs.KIND, jobs.run_secrets)
        afterwards.register(jobs.look_through)
