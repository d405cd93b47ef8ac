"""Rules for summaries: who makes one, from which parts, what it must keep, when it is refused."""
