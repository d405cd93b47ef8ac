"""Which kind of tool a name stands for, in the agents whose transcripts are read.

Claude Code, Codex, opencode, OpenHands, Gemini CLI, Cline, SWE-agent, Copilot and Cursor; a name
counts without its server (`mcp__shell__exec` → `exec`), case and punctuation.
"""

import re

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
    "write": """
        write create writefile createfile writetofile savefile createnewfile
    """,
    "edit": """
        edit multiedit editor strreplace strreplaceeditor strreplacebasededittool
        strreplaceeditortool editfile replace replaceinfile searchreplace notebookedit insert
        fileeditor texteditor
    """,
    "patch": """
        applypatch applydiff patch
    """,
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
    "words": """
        think finish submit attemptcompletion exitplanmode sendmessage reflect
    """,
}
_FAMILY = {
    name: family for family, names in _FAMILIES.items() for name in names.split()
}
_LAST = re.compile(r"(?:.*(?:__|[./:]))?(.+)", re.DOTALL)


def family(name: str) -> str | None:
    """The kind of tool, or None where the name tells none: `mcp__x__Read_File` → `read`."""
    match = _LAST.fullmatch(name[-120:].lower())
    return _FAMILY.get(re.sub(r"[^a-z0-9]", "", match[1])) if match else None
