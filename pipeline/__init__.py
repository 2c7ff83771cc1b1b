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
arrived, or its client last spoke; what another proxy says of it afterwards is about its own memory and not about the client.
Nor has a client ended that its proxy gives up because it is elsewhere (life.py).

The files, by the question that each answers.

The command:
    cli.py            `kip848-pipeline` and its verbs
    asking.py         can what was asked be done?
    session.py        a Spark session: here, on a cluster, behind Spark Connect
    connector.py      where do the jars of Spark's Kafka connector come from?
    progress.py       how far is it?
    patience.py       what if Spark's Python is slow to start?
    ending.py         when is a stream asked to end?
Lines to rows:
    schema.py         which columns are there?
    spans.py          how does a line of JSON become spans, and what cannot be read?
    protobuf.py       the same for the collector's protobuf
    names.py          what is a name, and what a pattern?
    compressed.py     how do lines come out of .zst files?
    life.py           in which order, and at which proxy, is a member's life told?
Rows to tables:
    tables.py         which tables are there, and each of them is made of which?
    phases.py         who was in which phase and standing, from when to when?
    ownership.py      which member held which partition, from when to when?
    rebalances.py     what did each cycle of a member cost it?
    group_changes.py  who was disturbed by a target, and who needed to be?
    audits.py         what should not have happened?
    readiness.py      who still needs the proxy?
    cost.py           what did each deploy disturb, and what would it have without the proxy?
    sweep.py          who holds a partition at once with whom, and when does nobody?
    replay.py         what would the same comings and goings have cost elsewhere?
    in_broker.py      the broker's own translation, in the small
Runs:
    jobs.py           what batch does, and a stream now and then
    writing.py        how do the tables of one run come to stand together?
    alone.py          what if two write into one folder?
    streaming.py      the same tables from a stream, exactly once
    live_rules.py     what can be said of a group while it happens?
    live_group.py     what is remembered of it between two steps?
    live.py           those rules, kept by Spark for each group
    live_feed.py      the facts that they are fed with
    judging.py        their query: begun, watched, begun again, ended
    campaigns.py      the simulation's seeds, spread over Spark
What people see:
    report.py         the page
    excerpts.py       which rows does it show?
    drawing.py        which picture answers which question?
    shapes.py         what is a picture made of?
    svg.py, png.py    how is it shown?
    letters.py        the letters of a PNG
    pictures.py       pictures as files
"""
