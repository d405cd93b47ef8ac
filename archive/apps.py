from django.apps import AppConfig


class ArchiveConfig(AppConfig):
    name = "archive"

    def ready(self) -> None:
        from contextstudio.accounts.domain.rights import Right
        from contextstudio.accounts.jobs import PROVIDER_QUEUE
        from contextstudio.accounts.jobs import register as register_job
        from operations.context.layers import register_layer
        from operations.domain.context.layers import MEMOS
        from operations.forwarding import before_lock
        from operations.tools import register
        from threads.domain.formats.contextstudio import SESSION
        from threads.imports import hooks
        from threads.search import word_index
        from threads.sessions import erasing

        from .entries.store import forget
        from .entries.words import ENTRIES
        from .hindsight import trials
        from .hindsight.tools import CheckHindsight
        from .memos import mask_for_good, words_for_context
        from .pruning.automatic import prune_before_request
        from .pruning.forgetting import forget_lines
        from .pruning.tools import Prune
        from .summaries import jobs
        from .summaries.results import forget_results, shown_result
        from .summaries.tools import TOOLS as SUMMARY_TOOLS
        from .tools import TOOLS
        from .transfer.reading import complete_imported

        word_index.register(ENTRIES)
        register(SUMMARY_TOOLS)
        register((*TOOLS, Prune, CheckHindsight))
        before_lock.register(prune_before_request)
        for kind, run, title, right in jobs.KINDS:
            register_job(
                kind,
                run,
                queue=PROVIDER_QUEUE,
                title=title,
                may_repeat=True,
                shown=shown_result,
                right=right,
            )
        register_job(
            trials.KIND,
            trials.run_trial,
            title="Policy trial",
            may_repeat=True,
            right=Right.READ,
        )
        hooks.register_completer(SESSION, complete_imported)
        register_layer(MEMOS, words_for_context)
        erasing.register_forgetting(forget)
        erasing.register_forgetting(forget_results)
        erasing.register_forgetting(forget_lines)
        erasing.register_forgetting(mask_for_good)
