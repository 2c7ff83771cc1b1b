"""A rolling migration to watch: legacy consumers behind the proxy become native ones, member by member.

cli.py        the command: which cluster, how long, where the picture goes       (exit codes)
migration.py  the plot: who starts, who is replaced, when it is over
crew.py       the programs that play in it, and the proxy, as processes
programs/     what those processes run: a producer, consumers of two libraries
ledger.py     what they said: who held what when, what was written, read, lost, doubled
screen.py     the terminal                         picture.py  the timeline as SVG
cluster/      a Kafka cluster in memory, for who has none
"""
