"""How fast groups are simulated."""
