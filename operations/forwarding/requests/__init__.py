"""The requests that clients made in a session: rows, descriptions, and their page."""
