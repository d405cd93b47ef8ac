"""Keys of agents and scripts: making and changing them, and the record of their requests."""
