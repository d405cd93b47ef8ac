from django.apps import AppConfig


class ThreadsConfig(AppConfig):
    name = "threads"

    def ready(self) -> None:
        from contextstudio.accounts.jobs import housekeeping, register

        from .imports import accounting, hooks, jobs, unstage
        from .search import word_index
        from .search.bodies import BODIES
        from .sessions import erasing

        word_index.register(BODIES)
        register(jobs.KIND, jobs.run_import, title="Import", take_back=unstage)
        register(jobs.INDEX, jobs.run_index, title="Update the search index")
        register(
            accounting.KIND,
            accounting.run_accounting,
            title="Count the text that an import took in",
        )
        hooks.register(jobs.index_if_worth)
        housekeeping.register(erasing.clean)
        housekeeping.register(jobs.index_now_and_then)
