"""A proxy for Apache Kafka that legacy consumers connect to as if it were the cluster.

Theory of operation: docs/architecture.md. The files, by the question that each answers; `groups/` and `tracing/` name their
own.

The command:
    cli.py                 `kip848-proxy` and its verbs (`__main__.py`: what signals mean before and after)
    checking.py            `check`: would it work here?
    status.py              `status`: who is a member, and who is connected?
    report.py              `report`: which groups still need the proxy?
    census.py              what does the cluster itself say of its groups?
    visiting.py            what does a broker tell anybody?
    completions.py         what does a shell offer after Tab?
    terminal.py            how do strangers' names stand on a terminal?
Settings:
    settings.py            which are there, in which unit, within which bounds? (settings_reference.py prints them)
    configuration.py       who said what: flags, environment, file
    soundness.py           do they agree with one another, and with this machine's files?
    reloading.py           what does SIGHUP change?
    descriptors.py         how many connections are there descriptors for?
    cpus.py                how many CPUs are there?
    locked.py              has another process a file to itself?
The byte path:
    conversation.py        what becomes of each frame of a client? (the heart; no sockets)
    treatments.py          what is done with a request of some API and version?
    answers.py             what is a client owed, in which order?
    asking_ahead.py        does a client ask for more while something is unanswered?
    wire.py                which answers are rewritten, and how?
    link.py                a plaintext connection: two raw sockets
    leg.py, pipe.py        one of its sockets; bytes that never enter this process
    epoll_set.py           how do many sockets wait within one task?
    aside.py               what if a client says more than its broker takes?
    volley.py, io_submit.py
                           how does what many are sent leave together?
    tls_link.py            a connection with TLS on a side
    tls_stream.py, socket_stream.py
                           its streams
    tls.py                 certificates, and which side they are for
    counts.py, causes.py   what is counted; why did a connection end?
    swallowed.py           what if a network has swallowed what was sent?
    parting.py             how does what is on its way to a client still arrive?
    not_kafka.py           who speaks something else here?
    too_old.py             whose Fetch does its broker no longer take?
To brokers, and who they are:
    addresses.py           where is each broker, and what are clients told instead?
    scout.py               is the cluster there, and who are its brokers?
    calls.py               what do all attempts to reach a broker have in common?
    dial.py, streams.py    how is one reached: for a link, and with TLS
    names.py               host names, remembered
    absences.py            what if a broker is away?
    pacing.py              why is nothing paced that stays on this machine?
The shell:
    server.py              who starts what, who closes what, and which errors go where?
    processes.py           who starts several processes, starts them again, and ends them?
    siblings.py            what have they in common?
    relaying.py            how does a connection with TLS come to another of them?
    doors.py               the listening sockets
    newcomers.py           how does somebody who came in become a connection?
    connections.py         what may a connection cost, and when is it cut?
    admin.py, pages.py     the admin port, and what it shows
    patient_output.py      what if nobody reads the log?
    certificates.py        when does a certificate end, and whose is it?
    memory.py              what was said already?
What is seen:
    observations.py        what can be seen of the translation?
    logs.py                one line an event (membership_log.py: of who comes and goes)
    picture.py             who holds what now, and who did of late?
    metrics.py, group_metrics.py, certificate_metrics.py
                           the numbers
"""
