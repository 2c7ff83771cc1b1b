"""Real clients of many makes in one group, while everything around them goes and comes back: `python -m tests.chaos`.

Nobody wrote this story down beforehand: a seed draws it, and the machine's own pace adds to it, so that the same seed need
not end the same way twice. What must hold in any of them is that every record is read, that no partition has two owners,
that the group comes to rest, that the proxy makes no mistake, and that the audits of the traces find nothing broken. How long
each thing took to settle is said too: what takes as long as a coordinator's session (45 s) where it should take a client's
(10 s) is worth a look into the traces.

    play.py       what can happen, and what came of it
    sites.py      where proxies run: one, or two and a load balancer; and the roads to them and to brokers
    __main__.py   python -m tests.chaos [--seed N] [--events N] [--broker VERSION [--upgraded]]
                                        [--balanced | [--far MS] [--secured]] [--rough] [--processes N]
"""
