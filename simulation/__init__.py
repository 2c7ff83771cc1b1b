"""A whole group in one process from one seed: coordinator, clients, proxy, network, and one clock.

    topics, brokers, errors      what a cluster is: topics and their ids, what differs between broker lines
    assignors, reconciliation    KIP-848's two computations: who shall own what, and what a member may own now
    group, coordinator, offsets  the group, the one who accepts or refuses heartbeats, and who may commit

Time is an argument everywhere (`now`, in ms), chance is one seeded `random.Random`: the same seed tells the same story.
"""
