"""The applications of the demo, as processes of their own: JSON lines out, and the end of stdin means "leave"."""
