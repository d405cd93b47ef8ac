"""What stands between a client and its provider."""
