"""Web, workers and Redis killed at random points while jobs of every kind run."""
