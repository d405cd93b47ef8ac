from django.apps import AppConfig


class ThreadsConfig(AppConfig):
    name = "threads"

    def ready(self) -> None:
        from contextstudio.accounts.domain.rights import Right
        from contextstudio.accounts.jobs import housekeeping, register, subjects
        from contextstudio.accounts.keys import request_log

        from .imports import accounting, hooks, jobs, unstage
        from .search import word_index
        from .search.bodies import BODIES
        from .sessions import erasing
        from .sessions.services import (
            names_of_sessions,
            open_sessions,
            titles_seen_by,
        )

        word_index.register(BODIES)
        register(
            jobs.KIND,
            jobs.run_import,
            title="Import",
            shown=jobs.shown_result,
            clean_up=unstage,
            right=Right.EDIT,
        )
        register(jobs.INDEX, jobs.run_index, title="Update the search index")
        register(
            accounting.KIND,
            accounting.run_accounting,
            title="Count imported tokens",
        )
        subjects.register("name", jobs.names_of_files)
        subjects.register("import_id", jobs.names_of_imports)
        subjects.register("session_id", names_of_sessions, open_sessions)
        request_log.register(titles_seen_by)
        hooks.register_hook(jobs.enqueue_index_if_due)
        housekeeping.register(erasing.clean)
        housekeeping.register(jobs.enqueue_index_if_behind)
