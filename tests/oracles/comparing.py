"""Which oracle reads which sample, its counts, and where they differ from ours."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .by_rule import RULES
from .explained import EXPLAINED, Difference

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SAMPLES = ROOT.parent / "shared" / "samples"
PYTHON = ROOT / ".venv-oracles" / "bin" / "python"
RULE = "rule"

READERS = {
    "atif": ["atif/*"],
    "claude-code-log": ["claude_code/*", "codex/*"],
    "inspect_ai": ["inspect/*"],
    "langchain-core": [
        "cline/*.messages.json",
        "langfuse/langgraph-*",
        "mini_swe_agent/*",
        "openai_chat/*",
        "swe_agent/*",
        "tau_bench/*",
    ],
}
"""The samples that a library reads; its script is `with_<library>.py`."""


class Line(NamedTuple):
    """One count of a sample by an oracle, and ours."""

    sample: str
    oracle: str
    measure: str
    theirs: int
    ours: int
    explained: Difference | None

    @property
    def is_right(self) -> bool:
        """Whether both agree, or differ by exactly what a written reason says."""
        meant = self.explained.theirs_less_ours if self.explained else 0
        return self.theirs - self.ours == meant


def names() -> list[str]:
    """All samples, by their paths in the samples folder."""
    return sorted(str(path.relative_to(SAMPLES)) for path in SAMPLES.glob("*/*"))


def readers_of(sample: str) -> list[str]:
    """The libraries that read a sample."""
    return [
        library
        for library, patterns in READERS.items()
        if any(Path(sample).match(pattern) for pattern in patterns)
    ]


def versions() -> dict[str, str]:
    """The libraries' locked versions."""
    pins = [
        line.split()[0].split("==")
        for line in (HERE / "requirements.lock").read_text("utf-8").splitlines()
        if "==" in line and not line.startswith(" ")
    ]
    locked = {name.replace("-", "_"): version for name, version in pins}
    return {library: locked[library.replace("-", "_")] for library in READERS}


def lines(ours: dict[str, dict[str, int]]) -> Iterator[Line]:
    """Every count of every oracle, with ours."""
    for library in READERS:
        found = [sample for sample in names() if library in readers_of(sample)]
        for sample, counts in _asked(library, found).items():
            yield from _compared(sample, library, counts, ours[sample])
    for sample, rule in RULES.items():
        yield from _compared(sample, RULE, rule.counts(SAMPLES / sample), ours[sample])


def _asked(library: str, samples: list[str]) -> dict[str, dict[str, int]]:
    script = HERE / f"with_{library.replace('-', '_')}.py"
    done = subprocess.run(
        [PYTHON, script, *samples],
        cwd=SAMPLES,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answer = json.loads(done.stdout)
    expected = f"{library} {versions()[library]}"
    if answer["library"] != expected:
        raise RuntimeError(f"{answer['library']} answered instead of {expected}")
    counts: dict[str, dict[str, int]] = answer["counts"]
    return counts


def _compared(
    sample: str, oracle: str, theirs: dict[str, int], ours: dict[str, int]
) -> Iterator[Line]:
    explained = EXPLAINED.get((sample, oracle), {})
    for measure, count in theirs.items():
        yield Line(
            sample, oracle, measure, count, ours.get(measure, 0), explained.get(measure)
        )
