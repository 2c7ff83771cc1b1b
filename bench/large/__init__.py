"""A large group with one native member: the broker's own translation and the proxy's."""
