"""Many concurrent writers."""
