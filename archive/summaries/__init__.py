"""Summaries: chosen models called by jobs, the digests they propose, and what these dropped."""
