"""What a write answers: the rows that changed, the parts around the thread, and a notice."""

from collections.abc import Sequence
from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

from contextstudio.accounts.authentication import caller_of
from operations.domain.log.log import controlled
from operations.domain.log.operation import ActivateTags, Redo, Toggle, Undo, named_keys
from operations.domain.tree.key import Key, entry_key, made_key, original_index
from operations.domain.tree.status import Status
from operations.editor.panels.drawer import drawer_of
from operations.editor.panels.meter import meter_of
from operations.editor.panels.outline import changed_groups, outline_of
from operations.editor.rows.drawing import joined
from operations.editor.rows.look import Look
from operations.editor.rows.minimap import minimap_of
from operations.editor.rows.patch import patch_of
from operations.log.transaction import LogTransaction
from operations.messages.names import name_of, word_of
from operations.requests import fields_of, number_of, view_of

from .requests import earlier, look_of, ranges_of

_PAST = {
    "revert": "reverted",
    "accept": "accepted",
    "reject": "rejected",
    "amend": "amended",
}


def answer(request: HttpRequest, transaction: LogTransaction) -> HttpResponse:
    """The patch that shows what was recorded, with a notice that offers to undo it."""
    view = view_of(fields_of(request))
    look = look_of(caller_of(request), transaction.session, view=view)
    notice, focus = _sentence(look, transaction)
    undo = bool(transaction.numbers)
    return patch(request, look, notice=notice, undo=undo, focus=focus)


def patch(
    request: HttpRequest,
    look: Look,
    *,
    opened: frozenset[Key] | None = None,
    notice: str = "",
    undo: bool = False,
    focus: Key = "",
) -> HttpResponse:
    """All that brings the page that asks from its head to that of the look.

    `opened` are the folds that the page shows open, where they are others than the look's;
    `focus` is the key of what was made.
    """
    fields = fields_of(request)
    since = number_of(fields, "since", number_of(fields, "head", look.thread.head))
    messages = number_of(fields, "messages", look.thread.message_count)
    old = earlier(look, head=since, message_count=messages)
    if opened is not None:
        old = replace(old, open_folds=opened)
    pieces = [
        patch_of(old, look, ranges_of(fields)).html(focus=focus),
        _side_panels(request, look, old),
    ]
    if notice:
        toast = render_to_string("parts/toast.html", {"text": notice, "undo": undo})
        swapped = format_html('<div hx-swap-oob="beforeend:#toasts">{}</div>', toast)
        pieces.append(swapped)
    answer = HttpResponse(joined(pieces))
    answer["X-Head"] = str(look.thread.head)
    return answer


def _side_panels(request: HttpRequest, look: Look, old: Look) -> SafeString:
    """Meter, drawer and counts, each swapped by its id; minimap and outline where they changed."""
    minimap, outline = minimap_of(look), outline_of(look)
    groups = changed_groups(outline_of(old), outline)
    context = {
        "oob": True,
        "meter": meter_of(look),
        "outline": outline if groups is None else None,
        "groups": groups or (),
        "minimap": minimap if minimap != minimap_of(old) else None,
        "drawer": drawer_of(look, actor=caller_of(request).actor),
        "may_edit": look.may_edit,
        "may_propose": look.may_propose,
        "session": look.session,
    }
    return render_to_string(
        "operations/editor/panels/side_panels.html", context, request
    )


def _sentence(look: Look, transaction: LogTransaction) -> tuple[str, Key]:
    """One sentence (`Digest #88–#131 off, +40,750 tokens.`) and the key of what changed."""
    if not transaction.numbers:
        return "Nothing to change.", ""
    number = transaction.numbers[-1]
    operation = transaction.thread.log.at(number).operation
    numbers = _concerned(look, number)
    ops = [look.operations[entry_key(edit)] for edit in numbers[:3]]
    named = ", ".join(
        f"{word_of(op.word).capitalize()} {op.range or op.where}" for op in ops
    )
    match operation:
        case Toggle(active=active):
            text = f"{named} {'on' if active else 'off'}"
        case Undo() | Redo():
            text = f"{operation.kind.capitalize()}: {named or 'a log entry'}"
        case ActivateTags(tags=tags):
            text = f"Active tags: {', '.join(tags) or 'none'}"
        case _ if number in numbers:
            entry = transaction.thread.log.at(number)
            waits = "staged" if entry.staged else "proposed" if entry.proposed else ""
            text = f"{named} {waits}".rstrip()
        case _:
            text = f"{named} {_PAST.get(operation.kind, operation.kind)}"
    # Whoever turned a switch stays at it; only what is new is gone to.
    focus = _visible(look, entry_key(number)) if number in numbers else ""
    return f"{text}{_difference(transaction)}.{_set_aside(look, transaction)}", focus


def _concerned(look: Look, number: int) -> list[int]:
    """The edits that an entry is, or acts on."""
    log = look.thread.log
    operation = log.at(number).operation
    if isinstance(operation, Undo | Redo):
        found = [
            edit for entry in operation.entries for edit in _concerned(look, entry)
        ]
        return list(dict.fromkeys(found))
    return [number] if number in log.edits else list(controlled(operation))


def _difference(transaction: LogTransaction) -> str:
    """How many more or fewer tokens the model sees."""
    more = transaction.thread.tokens.effective - transaction.before.tokens.effective
    return f", {'+' if more > 0 else '−'}{abs(more):,} tokens" if more else ""


def _set_aside(look: Look, transaction: LogTransaction) -> str:
    """What fares otherwise on account of it."""
    aside = [one for one in transaction.changes if one.report.status == Status.CONFLICT]
    if not aside:
        return ""
    named = ", ".join(name_of(look.thread, one.report.key) for one in aside[:3])
    return f" Set aside by it: {named}."


def _visible(look: Look, key: Key) -> Key:
    """The row that shows an operation: its fold, or the first message that it made or names."""
    moved = [one.keys[0] for one in look.thread.moved if one.operation == key]
    first, recorded = look.operations[key].first, look.thread.log.edit(key)
    if original_index(first) is not None:
        named: Sequence[Key] = [first]
    else:
        named = named_keys(recorded.edit)[:1] if recorded else ()
    candidates = [key, made_key(int(key[1:]), 0), *moved, *named]
    return next((one for one in candidates if look.thread.holds(one)), "")
