"""The log of operations and what follows from it: plain Python, the standard library only."""
