"""What a summary is: who makes it, of which parts, what it must keep, when it is refused."""
