"""Measurements between a client and its provider."""
