"""Groups answered here: the host of the members, and what it needs to stand between clients and coordinators.

classic.py      requests of legacy clients, read; their answers, written           (knows the codec)
native.py       what is asked of coordinators, and what they answer                (knows the codec)
line.py         one client's connection: what it may do, and what is asked on it
lines.py        on which line does a member speak?
host.py         members, one `step` at a time
requests.py     what becomes of a client's request?
orders.py       what members order, done
together.py     what the members of one group know together, hosted
own_hosts.py    which hosts does the coordinator know this proxy by?
recognising.py  who is it that speaks for a member we do not have?
sharing.py      one answer for all who want to know the same at the same time
orphans.py      who has not come back after a restart?
departures.py   how does a member of an earlier life go, that has not been in this one?
succession.py   how does a native client come to the instance id of a legacy one?
holding.py      Heartbeats that are held, and what waits behind them
commits.py      offsets committed in a member's name
fetching.py     offsets fetched in a member's name
dropped.py      requests of versions that brokers have dropped, where no member is concerned
reliance.py     who asks in such versions, and is not to go to its broker as it is?
leaving.py      LeaveGroup, which may speak for many
describing.py   DescribeGroups and ListGroups, as old tools want them
passing.py      which groups are translated, and which pass?
untranslated.py what passes, and who is known to
refusals.py     who is turned away here, and what can be done about it?
convertible.py  what passes in words that a coordinator can convert
clock.py        time in milliseconds, and what is to happen when it comes
journal.py      what survives a kill -9
"""
