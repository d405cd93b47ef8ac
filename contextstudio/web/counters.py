"""Counts of this process since its start, for `/metrics`."""

import threading


class Counter:
    """A number that only grows, safe to add to from any thread."""

    def __init__(self, name: str, description: str) -> None:
        self.name = name
        self.description = description
        self.value = 0
        self._lock = threading.Lock()

    def add(self) -> None:
        with self._lock:
            self.value += 1


answers = Counter("contextstudio_answers_total", "Requests that Django answered.")
faults = Counter(
    "contextstudio_faults_total", "Requests that were answered with a 5xx."
)
csp_reports = Counter(
    "contextstudio_csp_reports_total",
    "Violations of the policy that browsers reported.",
)
ALL = (answers, faults, csp_reports)
