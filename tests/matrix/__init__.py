"""Each legacy client on the same walk, twice: straight to the broker and through the proxy.

The walk is what happens to members in a year, in a minute: others come and go, native ones among them, one is killed, one
restarts, and the group moves behind the proxy and away again with its offsets. All the while records are produced; every
one is to be read, and no partition is to have two owners. What a client says in its log through the proxy it must have
said on the direct walk too, or it is a complaint about us.

    rows.py         the clients, versions and strategies
    walk.py         the walk
    steady.py       the records
    complaints.py   what a client's log says, less what tells one run from another
    __main__.py     python -m tests.matrix: all rows, and the table in docs/clients.md
"""
