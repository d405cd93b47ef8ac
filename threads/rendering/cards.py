"""A tool call as a card: one line that sums it up, and the rest below.

Each kind takes the arguments it knows how to show; the others are shown below as they are. If a
required one is missing or of another type, the card shows the JSON. A tool's name is matched
without server (`mcp__shell__exec` → `exec`), case and punctuation; the names are those of Claude
Code, Codex, opencode, OpenHands, Gemini CLI, Cline, SWE-agent, Copilot and Cursor.
"""

import json
import re
from dataclasses import replace
from functools import partial
from typing import Any

from .card_kinds import CARDS, Arguments, Card, patched
from .cut import one_line
from .safe import escape
from .text import diff, json_tree, output

SHORT = 80
MAX_SHORT = 6
"""The most characters and the most arguments for other arguments to fit on one line."""
_FAMILIES = {
    "command": """
        bash shell exec execcommand executebash executecommand runcommand runcommands runshell
        runshellcommand runterminalcmd runinterminal powershell terminal localshell localshellcall
        shellcommand containerexec cmdrun cmd run sh console
    """,
    "program": """
        executeipythoncell runipython ipython python codeinterpreter executepython runpython
        javascripttool executejavascript
    """,
    "read": """
        read view readfile readfiles viewfile open openfile cat viewimage readimage notebookread
        readmanyfiles readtextfile gotofile
    """,
    "write": "write create writefile createfile writetofile savefile createnewfile",
    "edit": """
        edit multiedit editor strreplace strreplaceeditor strreplacebasededittool
        strreplaceeditortool editfile replace replaceinfile searchreplace notebookedit insert
        fileeditor texteditor
    """,
    "patch": "applypatch applydiff patch",
    "search": """
        grep glob search searchfiles searchdir searchfile grepsearch filesearch findfile findfiles
        find codebasesearch codesearch ls listfiles listdir listdirectory listcodedefinitionnames
        rg toolsearch searchtext semanticsearch
    """,
    "todo": """
        todowrite todoread todolist updateplan writetodos tasktracker updatetodos managetodolist
        updatetodolist
    """,
    "web": """
        webfetch websearch fetch fetchurl googlewebsearch navigate gotourl browsernavigate
        webbrowsergo openurl searchweb urlfetch http
    """,
    "agent": """
        task agent subagent delegate spawnagent dispatchagent runagent runsubagent newtask
        delegatetask
    """,
    "words": "think finish submit attemptcompletion exitplanmode sendmessage reflect",
}
_FAMILY = {name: kind for kind, names in _FAMILIES.items() for name in names.split()}
_LAST = re.compile(r"(?:.*(?:__|[./:]))?(.+)", re.DOTALL)


def card(name: str, arguments: Any) -> Card:
    """The card of a call; `arguments` is JSON, or a string if the model wrote no JSON."""
    if isinstance(arguments, str):
        if not arguments.strip():
            return Card()
        if diff.is_patch(arguments):
            return patched(arguments)
        return Card(one_line(arguments), bodies=(partial(output.render, arguments),))
    if not isinstance(arguments, dict):
        return Card(bodies=(partial(json_tree.render, arguments),))
    given = Arguments(arguments)
    make = CARDS.get(family(name) or "")
    made = make(given) if make else None
    if made is None:
        bodies = (partial(json_tree.render, arguments),) if arguments else ()
        # On a plain card the first short string or number is the line.
        for value in arguments.values():
            is_text = isinstance(value, str) and value.strip()
            if is_text or type(value) in (int, float):
                return Card(str(value), bodies=bodies)
        return Card(bodies=bodies)
    rest = given.rest()
    if not rest:
        return made
    return replace(made, bodies=(*made.bodies, partial(_others, rest)))


def _others(rest: dict[str, Any]) -> str:
    """Arguments that the card has no place for: on one line if they are few and short."""
    short = not any(
        isinstance(value, dict | list)
        or (isinstance(value, str) and len(value) > SHORT)
        for value in rest.values()
    )
    if len(rest) > MAX_SHORT or not short:
        return json_tree.render(rest)
    words = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in rest.items()
    }
    shown = ", ".join(
        f'<span class="key">{escape(name[:SHORT])}</span> {escape(word)}'
        for name, word in words.items()
    )
    return f'<p class="arguments">{shown}</p>'


def family(name: str) -> str | None:
    """The kind of tool, or None if the name doesn't tell: `mcp__x__Read_File` → `read`."""
    match = _LAST.fullmatch(name[-120:].lower())
    return _FAMILY.get(re.sub(r"[^a-z0-9]", "", match[1])) if match else None
