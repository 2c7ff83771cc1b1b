"""The protocol, pure: how one classic group member is a member of a KIP-848 group.

Nothing in this package reads a clock, draws a random number, opens a socket or knows bytes on a wire:
`step(member, event, now) -> (member, actions)` takes facts and gives orders.
"""
