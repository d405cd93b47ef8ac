"""Many who write at once."""
