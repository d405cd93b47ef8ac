"""The requests that clients made of a session: their rows, what is said of each, their page."""
