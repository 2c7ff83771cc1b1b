"""From the proxy's traces to answers: what a migration cost, whether it was safe, and what is left to do.

Theory of operation. The proxy says everything once, as a *transition*: a member's step from one phase, standing, epoch,
generation and set of partitions to the next. A transition is exported as a span of no length; so are the requests around
it, as spans with a length. The pipeline reads spans back into rows and asks questions of them, in three layers:

    lines -> spans           OTLP as the collector writes it, read once; what cannot be read is a row of `rejects`
    spans -> transitions     the proxy's own record, column by column (schema.py derives it, so they cannot disagree)
    transitions -> tables    one file per table, named after it

Every step is a function from DataFrames to a DataFrame. Only jobs.py (with writing.py), streaming.py and live.py (fed by
live_feed.py, kept going by judging.py) read and write. Nobody counts on the order in which spans arrive: exporters batch,
repeat and mix them.

Time. `*_ns` are nanoseconds of the wall clock of the proxy that saw it; Spark's timestamps are microseconds, so they
stand beside and never instead. An interval that has not ended has `to_ns` null.

Home. Two proxies may know one member, when its client moves from one to the other. The member is at home where it last
arrived; what another proxy says of it afterwards is about its own memory and not about the client (life.py).
"""
