"""Renders articles as HTML: takes those drawn before from the cache, and draws the rest in bulk."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from operations.domain.text.left_out import left_out
from operations.domain.text.wording import first_lines, words_of
from operations.domain.thread.node import FoldNode, MessageNode
from operations.domain.tree.key import Key, made_key
from operations.domain.tree.span import apply_span_changes
from operations.messages.names import name_of
from operations.messages.reader import MessageReader, MessageText
from operations.messages.relevance import relevance_at
from operations.messages.senders import agents_of
from operations.requests import View
from threads.domain.body import body_digest
from threads.domain.message import Role
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult
from threads.rendering import fragments, render_difference, summary
from threads.rendering.hidden import visible
from threads.store.originals import load_messages_at

from .articles import Article, Gap, changes_on
from .changes import changes_of
from .look import Look
from .notes import MAX_COMPARED, Note, ShownWords
from .operation import members_of
from .row import Fold, Row, row_head

CALLS_BEFORE = 12
"""How many originals before a result are searched for its call, to find the tool's name."""
MAX_SEARCHED = 300
"""Most messages of a digest for which its marker says what it leaves out."""


def draw(look: Look, articles: Iterable[Article]) -> list[SafeString]:
    """The HTML of each article. Bodies are loaded only for articles that were not drawn before."""
    wanted = list(articles)
    keys = [article.shows for article in wanted]
    near = relevance_at(look.session, keys) if look.shows_relevance else {}
    marks = [(article.mark, near.get(article.shows)) for article in wanted]
    found = fragments.rows.get(marks)
    missing = [at for at, html in enumerate(found) if html is None]
    if missing:
        making = _Drawing(look, [wanted[at] for at in missing], near)
        drawn = [making.draw(wanted[at]) for at in missing]
        for at, html in zip(missing, drawn, strict=True):
            if not wanted[at].is_open:
                fragments.rows.keep(marks[at], html)
        in_turn = iter(drawn)
        found = [next(in_turn) if html is None else html for html in found]
    return [html for html in found if html is not None]


def joined(parts: Iterable[SafeString]) -> SafeString:
    """Join finished HTML; anything not marked safe would be escaped."""
    return format_html_join("\n", "{}", ((part,) for part in parts))


def draw_gap(gap: Gap) -> SafeString:
    return _rendered("node", node=gap)


class _Drawing:
    """Draws some articles, with their texts and the HTML of their bodies loaded in bulk."""

    def __init__(
        self, look: Look, articles: Sequence[Article], near: Mapping[Key, float]
    ) -> None:
        self.look = look
        self.near = near
        notes = [note for article in articles for note in article.notes]
        keys = [key for article in articles for key in printed_keys(article)]
        keys += [key for note in notes for key in note.shows]
        leaves = [key for article in articles for key in self._leaves(article)]
        leaves += [key for note in notes for key in note.compares]
        reader = MessageReader(look.session, look.thread)
        self.words = reader.effective([*keys, *leaves])
        self.recorded = reader.recorded(
            dict.fromkeys(span.key for note in notes for span in note.spans)
        )
        bodies = {key: self._body(self.words[key]) for key in keys if key in self.words}
        html = fragments.load_bodies(look.session.project_id, bodies.values())
        self.html = {key: html[body.digest] for key, body in bodies.items()}
        self.tools = self._tools()
        self.agents = agents_of(look.session, self._indexes(keys))

    def _indexes(self, keys: Iterable[Key]) -> list[int]:
        """The indexes of the originals among some messages."""
        said = (self.words[key].original for key in keys if key in self.words)
        return [one.row.index for one in said if one is not None]

    def draw(self, article: Article) -> SafeString:
        if not article.shows:
            fold = Fold(**members_of(self.look.operations[article.node.key]))
            return _rendered("hairline", fold=fold)
        if isinstance(article.node, FoldNode) and article.shows == article.node.key:
            return self._marker(article, article.node)
        row = self._row(article)
        return _rendered("inserted" if row.kind == "inserted" else "row", row=row)

    def _row(self, article: Article) -> Row:
        node, key = article.node, article.shows
        words = self.words[key]
        parts = self._parts(words)
        if isinstance(node, MessageNode):
            tokens = node.tokens - node.saved
        else:
            tokens = node.messages[int(key.partition(".")[2])].tokens
        said = row_head(
            Role(words.role), parts, tokens=tokens, names=self.tools.get(key, {})
        )
        original = words.original.row if words.original else None
        row = Row(
            kind="message",
            key=key,
            name=name_of(self.look.thread, key),
            role=said.voice,
            tokens=tokens,
            relevance=self.near.get(key),
            time=original.created_at if original else None,
            model=visible(original.model) if original else "",
            by=visible(self.agents.get(original.index, "")) if original else "",
            depth=node.depth,
            **self._attached_notes(article),
            tool=said.tool,
            outcome=said.outcome,
            failed=said.failed,
        )
        if isinstance(node, MessageNode):
            row.tags = node.tags if self.look.view is View.ANNOTATED else ()
        # The operation that made it: as a marked row, or in the effective view as a label.
        if isinstance(node, FoldNode):
            row.made_by = node.kind
        elif node.operation is not None and self.look.view is View.ANNOTATED:
            row.kind = "inserted"
            row.operation = self.look.operations[node.operation]
            row.leads = key.endswith(".0")
        elif node.operation is not None:
            row.made_by = "insert"
        brief = isinstance(node, MessageNode) and (said.is_brief or node.depth > 0)
        if (brief if article.brief is None else article.brief) and said.line:
            row.brief, row.brief_is_code = said.line, said.is_code
        else:
            row.closable = bool(brief and said.line)
            row.body_html = self.html[key]
        return row

    def _tools(self) -> dict[Key, dict[str, str]]:
        """Map of each original with unnamed results to the calls before it: call id to tool."""
        nameless = {
            key: words.original.row.index
            for key, words in self.words.items()
            if words.original is not None
            and any(isinstance(p, ToolResult) and not p.name for p in words.parts)
        }
        before = {
            key: range(max(0, i - CALLS_BEFORE), i) for key, i in nameless.items()
        }
        wanted = {index for indexes in before.values() for index in indexes}
        calls = {
            index: {
                part.id: part.name
                for part in original.parts
                if isinstance(part, ToolCall)
            }
            for index, original in load_messages_at(self.look.session, wanted).items()
        }
        return {
            key: {
                id_: name
                for index in indexes
                for id_, name in calls.get(index, {}).items()
            }
            for key, indexes in before.items()
        }

    def _attached_notes(self, article: Article) -> dict[str, Any]:
        notes = [self._worded(note) for note in article.notes]
        return {
            "moved": article.moved,
            "notes": [note for note in notes if not note.below],
            "notes_below": [note for note in notes if note.below],
        }

    def _worded(self, note: Note) -> Note:
        """A note with what the model would read, so that nobody accepts what they couldn't read."""
        if note.spans:
            found = changes_of(self.look, note.op.word, note.spans, self.recorded)
            return replace(note, changes=found)
        if not note.shows:
            return note
        words = self._shown(note.shows, note.compares)
        if note.op.word in ("insert", "revise"):
            roles = dict.fromkeys(self.words[key].role for key in note.shows)
            words = replace(words, roles=", ".join(roles).capitalize())
        return replace(note, words=words)

    def _shown(self, keys: Sequence[Key], compares: Sequence[Key] = ()) -> ShownWords:
        """The texts of messages, or their difference from the texts of others."""
        html = self._difference(compares, keys) if compares else None
        lead, lines = first_lines(self._plain(key) for key in keys)
        return ShownWords(
            html=html or joined(self.html[key] for key in keys),
            lead=visible(lead),
            lines=lines,
        )

    def _marker(self, article: Article, node: FoldNode) -> SafeString:
        op, is_revise = self.look.operations[node.key], node.kind == "revise"
        compares = self._leaves(article) if is_revise else ()
        children = article.children
        drawn = iter(draw(self.look, (c for c in children if isinstance(c, Article))))
        fold = Fold(
            **members_of(op),
            open=article.is_open,
            depth=node.depth,
            words=self._shown(printed_keys(article), compares),
            children_html=joined(
                draw_gap(child) if isinstance(child, Gap) else next(drawn)
                for child in children
            ),
            **self._attached_notes(article),
            left_out=self._left_out(article, node),
        )
        return _rendered("fold", fold=fold)

    def _plain(self, key: Key) -> str:
        """The plain text of a message."""
        words = self.words.get(key)
        if words is None:
            return ""
        return words_of(words.parts) or summary(Role(words.role), words.parts)

    def _difference(
        self, originals: Sequence[Key], keys: Sequence[Key]
    ) -> SafeString | None:
        """The difference of messages from the originals; None unless both are text only."""
        old, new = map(self._text, originals), map(self._text, keys)
        sides = [list(side) for side in (old, new)]
        if any(None in side for side in sides):
            return None
        return render_difference(
            *("\n\n".join(text or "" for text in side) for side in sides)
        )

    def _left_out(self, article: Article, node: FoldNode) -> str:
        """A sentence that counts what the originals name and the digest doesn't."""
        if node.kind != "digest" or node.leaves > MAX_SEARCHED:
            return ""
        originals = (self._parts_of(key) for key in self._leaves(article))
        summary = "\n".join(self._text(key) or "" for key in printed_keys(article))
        return left_out(originals, summary).sentence

    def _leaves(self, article: Article) -> list[Key]:
        """The leaves that a marker compares with its text; empty if there are too many."""
        node, most = article.node, {"revise": MAX_COMPARED, "digest": MAX_SEARCHED}
        if not isinstance(node, FoldNode) or article.shows != node.key:
            return []
        if node.leaves > most.get(node.kind, 0):
            return []
        return self.look.thread.leaf_keys(node.key)

    def _text(self, key: Key) -> str | None:
        """The text of a message; None if it holds anything other than text and thinking."""
        parts = self._parts_of(key)
        if not all(isinstance(part, Text | Thinking) for part in parts):
            return None
        return "\n\n".join(part.text for part in parts if isinstance(part, Text))

    def _parts_of(self, key: Key) -> tuple[Part, ...]:
        return self.words[key].parts if key in self.words else ()

    def _parts(self, words: MessageText) -> tuple[Part, ...]:
        """The parts of a message in this view; in the original view only redactions apply."""
        if self.look.view is View.ORIGINAL and words.original is not None:
            return apply_span_changes(
                words.original.parts, changes_on(self.look, words.key)
            )
        return words.parts

    def _body(self, words: MessageText) -> fragments.RenderableBody:
        parts, role = self._parts(words), Role(words.role)
        if words.original is not None and parts == words.original.parts:
            original = words.original
            return fragments.RenderableBody(
                original.digest, role, parts, tuple(original.counts)
            )
        return fragments.RenderableBody(body_digest(role, parts), role, parts)


def printed_keys(article: Article) -> list[Key]:
    """The keys of the messages whose bodies an article prints."""
    node = article.node
    if isinstance(node, FoldNode) and article.shows == node.key:
        return [
            made_key(int(node.key[1:]), place) for place in range(len(node.messages))
        ]
    return [article.shows] if article.shows else []


def _rendered(name: str, **context: object) -> SafeString:
    return render_to_string(f"operations/editor/rows/{name}.html", context)
