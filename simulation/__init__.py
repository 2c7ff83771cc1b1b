"""A whole group in one process from one seed: coordinator, clients, proxy, network, and one clock.

    topics, brokers, errors        what a cluster is: topics and their ids, what differs between broker lines
    assignors, reconciliation      KIP-848's two computations: who shall own what, and what a member may own now
    group, coordinator, validation, expressions, offsets, description
                                   the group, who accepts or refuses heartbeats and commits, which topics a regular expression
                                   means, and who shows the group to those who ask
    legacy, embedded, sockets      a client of the classic protocol, the bytes it writes and reads, its connections
    native                         a member that speaks KIP-848 itself
    host, groups, process          a proxy: its members, what they know together, and how it may stand still or die
    clock, network                 whose turn it is, and what becomes of what is under way
    invariants                     what must hold after every step
    world, story                   all of it together; and told in verbs
    plans, playing                 a run drawn from a seed, and played

Time is an argument everywhere (`now`, in ms), chance is one seeded `random.Random`: the same seed tells the same story.
"""
