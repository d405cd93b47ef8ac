"""Files of rows that are first converted to JSON Lines, one line per row."""
