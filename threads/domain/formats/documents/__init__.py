"""Documents for people: HTML pages and Markdown are written, text with headings is read."""

from . import html, markdown, role_headings

FORMATS = (role_headings.FORMAT, html.FORMAT)
WRITERS = {"markdown": markdown.WRITER, "html": html.WRITER}
