"""The ideas of the archive: references, memos, and what is cut out of a text."""
