"""Keys of agents and scripts: creating and changing them, and the log of their requests."""
