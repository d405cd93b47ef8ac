"""Cards for the kinds of tools that many agents have, each built from the arguments it knows."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from .cut import LINE, OUTPUT, count_lines, left_out, one_line
from .safe import escape
from .text import code, diff, markdown, output

PATCH_HEAD = 20_000
"""How much of a patch is searched for file names, in characters."""
MAX_ITEMS = 200
"""Items shown of a to-do list."""

_PATHS = (
    "file_path",
    "filePath",
    "path",
    "filename",
    "file_name",
    "file",
    "target_file",
    "uri",
)
_OLD = ("old_string", "oldString", "old_str", "oldText", "old_text", "search")
_NEW = ("new_string", "newString", "new_str", "newText", "new_text", "replace")
_STATES = {
    "completed": "is-done",
    "complete": "is-done",
    "done": "is-done",
    "in_progress": "is-doing",
    "in-progress": "is-doing",
}

Body = Callable[[], str]
Item = TypeVar("Item")


class Arguments:
    """The arguments of a call; a card takes those it shows."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given
        self._taken: set[str] = set()

    def take(self, *names: str) -> str | None:
        """Take the first of these arguments that is a string."""
        text: str | None = self._take(names, lambda value: isinstance(value, str))
        return text

    def take_number(self, *names: str) -> int | None:
        """Take the first of these arguments that is an integer."""
        number: int | None = self._take(names, lambda value: type(value) is int)
        return number

    def take_list(self, *names: str, of: type[Item]) -> list[Item] | None:
        """Take the first of these arguments that is a non-empty list of such items."""

        def fits(value: Any) -> bool:
            is_list = isinstance(value, list) and bool(value)
            return is_list and all(isinstance(item, of) for item in value)

        items: list[Item] | None = self._take(names, fits)
        return items

    def rest(self) -> dict[str, Any]:
        """The arguments that were not taken, without those that are false or empty."""
        return {
            name: value
            for name, value in self._given.items()
            if name not in self._taken
            and not (value is None or value is False or value in ("", [], {}))
        }

    def _take(self, names: tuple[str, ...], fits: Callable[[Any], bool]) -> Any:
        for name in names:
            if fits(value := self._given.get(name)):
                self._taken.add(name)
                return value
        return None


@dataclass(frozen=True, slots=True)
class Card:
    """A call as shown: one line and a note beside it, both plain text, and what is below.

    `bodies` return HTML; they are called only when the card is shown in full. If they repeat the
    line, it is given shortened, otherwise in full.
    """

    line: str = ""
    note: str = ""
    bodies: tuple[Body, ...] = ()
    open: bool = False


def patched(text: str) -> Card:
    """The card of a patch: the files that it names, and its rows."""
    files = ", ".join(diff.patched_files(text[:PATCH_HEAD]))
    render = diff.render_patch if diff.is_patch(text) else output.render
    return Card(one_line(files), bodies=(partial(render, text),), open=True)


def _command(given: Arguments) -> Card | None:
    text = given.take("command", "cmd", "script", "commandLine") or None
    if text is None and (several := given.take_list("commands", of=str)):
        text = "\n".join(several)
    elif text is None and (words := given.take_list("command", "cmd", "args", of=str)):
        is_shell = len(words) == 3 and words[1] in ("-c", "-lc")
        text = words[2] if is_shell else shlex.join(words)
    if text is None:
        return None
    note = given.take("description", "explanation") or ""
    whole = text.strip()
    fits = "\n" not in whole and len(whole) <= LINE
    bodies = () if fits else (partial(code.render, whole, "bash"),)
    return Card(one_line(whole), note, bodies)


def _program(given: Arguments) -> Card | None:
    text = given.take("code", "script", "text", "command")
    if text is None:
        return None
    return Card(one_line(text), bodies=(partial(code.render, text, "python"),))


def _read(given: Arguments) -> Card | None:
    path = given.take(*_PATHS)
    return None if path is None else Card(path, _range(given))


def _range(given: Arguments) -> str:
    """Which lines are read, in words; empty for the whole file."""
    first = given.take_number("offset", "start_line", "startLine")
    last = given.take_number("end_line", "endLine")
    count = given.take_number("limit")
    if view := given.take_list("view_range", "line_range", of=int):
        first, last = view[0], view[-1]
    if last is not None:
        return f"lines {first or 1}–{last}"
    start = f"from line {first}" if first is not None else ""
    return f"{start}, {count} lines".lstrip(", ") if count is not None else start


def _write(given: Arguments) -> Card | None:
    path = given.take(*_PATHS)
    text = given.take("content", "contents", "file_text", "fileText", "code", "text")
    if path is None or text is None:
        return None if path is None else Card(path)
    lines = count_lines(text)
    note = f"{lines:,} line{'s' if lines != 1 else ''}"
    return Card(path, note, (partial(code.render, text, code.language_of(path)),))


def _edit(given: Arguments) -> Card | None:
    path = given.take(*_PATHS) or ""
    what = given.take("command") or ""
    if what == "create":
        return _write(given) or Card(path, what)
    several = given.take_list("edits", "changes", of=dict) or []
    edits = [given, *map(Arguments, several)]
    pairs = [(edit.take(*_OLD) or "", edit.take(*_NEW) or "") for edit in edits]
    changed = [pair for pair in pairs if any(pair)]
    bodies = tuple(partial(diff.render_edit, *pair) for pair in changed)
    if not bodies and (several or not path):
        return None
    return Card(path, what, bodies, open=bool(bodies))


def _patch(given: Arguments) -> Card | None:
    text = given.take("patch", "input", "diff", "patchText")
    if text is None:
        return None
    path = given.take(*_PATHS)
    return replace(patched(text), line=path) if path else patched(text)


def _search(given: Arguments) -> Card | None:
    pattern = given.take(
        "pattern", "query", "regex", "q", "search_term", "glob", "text"
    )
    where = given.take(
        "path", "dir_path", "directory", "dir", "relative_workspace_path"
    )
    if pattern is None:
        return None if where is None else Card(where)
    return Card(pattern, f"in {where}" if where else "")


def _todo(given: Arguments) -> Card | None:
    items = given.take_list("todos", "plan", "task_list", "items", "todoList", of=dict)
    if items is None:
        return None
    done = sum(_STATES.get(str(item.get("status"))) == "is-done" for item in items)
    body = partial(_todo_list, items)
    return Card("", f"{done} of {len(items)} done", (body,), open=True)


def _todo_list(items: list[dict[str, Any]]) -> str:
    html = ""
    for given in map(Arguments, items[:MAX_ITEMS]):
        text = given.take("content", "step", "title", "subject", "task", "description")
        state = given.take("status", "state") or "pending"
        named = f' class="{_STATES[state]}"' if state in _STATES else ""
        word, what = escape(state[:40].replace("_", " ")), escape((text or "")[:2000])
        html += f'<li{named}><span class="todo-state">{word}</span> {what}</li>'
    over = len(items) - MAX_ITEMS
    more = left_out(f"{over:,} more items") if over > 0 else ""
    return f'<ul class="todos">{html}</ul>{more}'


def _web(given: Arguments) -> Card | None:
    what = given.take("url", "query", "search_query", "uri")
    return None if what is None else Card(what)


def _agent(given: Arguments) -> Card | None:
    task = given.take("prompt", "instructions", "task", "message")
    title = given.take("description", "title", "name") or ""
    kind = given.take("subagent_type", "agent_type", "agent", "mode") or ""
    if task is None and not title:
        return None
    bodies = (partial(markdown.render, task, limit=OUTPUT),) if task else ()
    return Card(title or one_line(task or ""), kind, bodies)


def _words(given: Arguments) -> Card | None:
    text = given.take(
        "thought", "message", "result", "plan", "summary", "final_thought"
    )
    if text is None:
        return None
    return Card(bodies=(partial(markdown.render, text, limit=OUTPUT),), open=True)


CARDS: dict[str, Callable[[Arguments], Card | None]] = {
    "command": _command,
    "program": _program,
    "read": _read,
    "write": _write,
    "edit": _edit,
    "patch": _patch,
    "search": _search,
    "todo": _todo,
    "web": _web,
    "agent": _agent,
    "words": _words,
}
