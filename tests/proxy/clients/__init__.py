"""Real clients, one small program each: produce 100, consume them in a group, commit; print what was seen.

PROGRAM BOOTSTRAP TOPIC GROUP    →    OK consumed=100 committed=100
"""
