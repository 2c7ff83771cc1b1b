"""A whole group in one process from one seed: coordinator, clients, proxy, network, and one clock."""
