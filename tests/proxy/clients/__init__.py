"""Small programs for what goes beyond the line protocol of tests/clients: transactions with offsets, admin, share groups.

PROGRAM BOOTSTRAP TOPIC GROUP    →    OK consumed=100 committed=100
"""
