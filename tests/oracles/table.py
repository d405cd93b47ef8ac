"""The table of counts in docs/formats.md: each sample's counts, and who else counted them."""

from .by_rule import RULES
from .comparing import ROOT, SAMPLES, names, readers_of, versions
from .explained import EXPLAINED
from .ours import Ours, read, together

PAGE = ROOT / "docs" / "formats.md"
BEGIN = "<!-- counts: written by python -m tests.oracles --write -->\n"
END = "<!-- end of counts -->\n"
HEADER = (
    "| sample | format | sessions | system, developer | user | assistant | tool | calls, results"
    " | thinking | images | events | compactions | warnings | output tokens | counted too by |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
)
MANIFEST = "cline/cline-sdk-session.json"
OF_MANIFEST = "cline/cline-sdk-session.messages.json"


def everything() -> dict[str, Ours]:
    """Every sample as we read it."""
    return {name: read(SAMPLES / name) for name in names()}


def markdown(found: dict[str, Ours]) -> str:
    """The table, the rules behind it and the intended differences."""
    rows = [row(name, ours) for name, ours in found.items()]
    with_manifest = together([SAMPLES / MANIFEST, SAMPLES / OF_MANIFEST])
    rows.append(row("cline/ (both files)", with_manifest))
    rules: dict[str, list[str]] = {}
    for name, rule in RULES.items():
        rules.setdefault(rule.sentence, []).append(f"`{name}`")
    return "".join(
        [
            HEADER,
            *sorted(rows),
            "\nThe rules, written against the raw files with nothing of the parsers:\n\n",
            *(f"- {', '.join(of)}: {sentence}.\n" for sentence, of in rules.items()),
            "\nWhere a reader counts otherwise, and why:\n\n",
            *_differences(),
        ]
    )


def write(found: dict[str, Ours]) -> None:
    """Write the table into the page, between its markers."""
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{markdown(found)}{END}{after}", "utf-8")


def written() -> str:
    """The current table in the page."""
    return PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]


def row(name: str, ours: Ours) -> str:
    """The row of one sample."""
    count = {**dict.fromkeys(_COUNTED, 0), **ours.counts}
    if not ours.counts:
        cells = ["0", *[""] * 11]
    else:
        cells = [
            f"{count['sessions']:,}",
            _pair(count["system"], count["developer"]),
            f"{count['user']:,}",
            f"{count['assistant']:,}",
            f"{count['tool']:,}",
            _pair(count["calls"], count["results"]),
            f"{count['thinking']:,}",
            f"{count['images']:,}",
            f"{count['events']:,}",
            _compactions(count),
            f"{count['warnings']:,}",
            f"{count['output_tokens']:,}",
        ]
    format = f"`{ours.format}`" if ours.counts else "(refused)"
    return f"| `{name}` | {format} | {' | '.join([*cells, _checks(name)])} |\n"


_COUNTED = (
    *(
        "sessions",
        "system",
        "developer",
        "user",
        "assistant",
        "tool",
        "calls",
        "results",
    ),
    *("thinking", "images", "events", "compactions", "hidden", "replacements"),
    *("warnings", "output_tokens"),
)


def _pair(first: int, second: int) -> str:
    return f"{first:,}, {second:,}" if first or second else "0"


def _compactions(count: dict[str, int]) -> str:
    if not count["compactions"]:
        return "0"
    return f"{count['compactions']}: {count['hidden']:,} by {count['replacements']}"


def _checks(name: str) -> str:
    if name == MANIFEST:
        return "holds no message: refused alone with a sentence, read with its messages"
    if name not in names():
        return "as alone; the manifest is an event"
    known = versions()
    found = [f"{library} {known[library]}" for library in readers_of(name)]
    return " and ".join([*found, *(["a rule"] if name in RULES else [])])


def _differences() -> list[str]:
    return [
        f"- `{sample}`, {library}, {_word(measure)} ({meant.theirs_less_ours:+,}):"
        f" {meant.reason}.\n"
        for (sample, library), differences in EXPLAINED.items()
        for measure, meant in differences.items()
    ]


def _word(measure: str) -> str:
    first, _, second = measure.partition("_")
    return f"{second} of {first}s" if second else measure
