"""Clients made by hand that do what the protocol allows and no library does, at random, before real brokers.

__main__.py     python -m tests.wild: a seed's worth of it
group.py        one group of them: wild for a while, then calm, then it must come to rest
member.py       one of them, and what it may do next
holdings.py     who may read which partition: two at a time are a fault
test_wild.py    a little of it in CI
"""
