"""Summaries: jobs that call a chosen model and record digests, and what those dropped."""
