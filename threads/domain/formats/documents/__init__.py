"""Files for people: pages and Markdown that are written, text with headings that is read."""

from . import html, markdown, role_headings

FORMATS = (role_headings.FORMAT, html.FORMAT)
WRITERS = {"markdown": markdown.WRITER, "html": html.WRITER}
