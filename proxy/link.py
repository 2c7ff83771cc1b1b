"""A plaintext connection: two raw sockets in the epoll set.

What is read from one side goes through the conversation and is sent to the other in the same breath. While the other
side's socket has not taken all of it (the leg is *stuck*), nothing more is read for it: that is all the backpressure there
is, and it bounds the memory of a connection to one buffer or pipe each way.

The inside of large frames is spliced: it never comes into this process (`pipe.py`).

A client that has finished sending (half-closed) still gets its answers: the end is passed on to the broker once all is
sent, and the broker's own end closes the connection. When a broker ends, what it said is delivered first.

A connection on which a member speaks to its coordinator outlives its client's socket (it *lingers*): members are not
connections, and the client may be back on another one.
"""

from __future__ import annotations

import contextlib
import traceback
from functools import partial
from socket import IPPROTO_TCP, SHUT_WR, TCP_NODELAY, socket

import trio

from proxy.addresses import Address
from proxy.answers import Answers, Bytes
from proxy.causes import Cause, Disconnect
from proxy.connections import CLIENT_GONE, Connections, Watch
from proxy.conversation import Conversation
from proxy.dial import Dial
from proxy.epoll_set import FIRST, READABLE, UNKNOWN, WRITABLE, EpollSet
from proxy.leg import LEAST_TO_SPLICE, Leg
from proxy.siblings import Letter
from proxy.swallowed import is_swallowed, silent_ms, throw_away


class Link:
    def __init__(
        self,
        connections: Connections,
        epoll_set: EpollSet,
        sock: socket,
        client: str,
        node: int | None,
        dial: Dial,
        before: Letter | None = None,
    ) -> None:
        """`before`: it began in another process of this proxy."""
        self.client = client
        self.certificate = before.certificate if before is not None else None
        self.node = node
        self.conversation = connections.converse(self)
        # Not the epoll set's time: it stands still while the set waits, and we may come from elsewhere.
        self.opened_at = self.active_at = trio.current_time()
        self.watch = Watch(self.opened_at)
        self._connections = connections
        self._counts = connections.counts
        self._epoll_set = epoll_set
        self._volley = epoll_set.volley
        self._dial = dial
        self._client = Leg(sock, Cause.CLIENT_LOST, epoll_set.pipes)
        # None until it is connected.
        self._broker: Leg | None = None
        self._draining = False
        self._throttled = False
        self._closed = False
        self._lingering = False
        # In which both sockets wait to be served.
        self._lane: str | None = UNKNOWN
        self._said_before = b""
        if before is not None:
            self._said_before = before.said
            self.conversation.software = before.software
            self.conversation.stay()
        # With TLS nobody can say that it says no more, and is still there.
        self._may_half_close = before is None or not before.has_tls
        sock.setblocking(False)
        sock.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        connections.opened(self)
        try:
            self._dial.begin(self._dialled)
        except Exception as failure:
            self._fail(failure)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "connected" if self._broker else "dialling"
        return f"<Link {self.client} to {self.dialled} {state} {self.conversation!r}>"

    @property
    def dialled(self) -> Address | None:
        return self._dial.address

    # ------------------------------------------------------------------------------------------------------ moving

    def _dialled(self, events: int) -> None:
        try:
            sock = self._dial.answered(self._dialled, events)
            if sock is not None:
                self._connect(Leg(sock, Cause.BROKER_LOST, self._epoll_set.pipes))
        except Exception as failure:
            self._fail(failure)

    def _connect(self, broker: Leg) -> None:
        client, conversation = self._client, self.conversation
        self._broker = broker
        self._epoll_set.watch(client.sock, 0, partial(self._ready, client, broker, conversation))
        self._epoll_set.watch(broker.sock, 0, partial(self._ready, broker, client, conversation.owed))
        self._arm()
        if self._said_before:
            said, self._said_before = self._said_before, b""
            # They were counted when they came.
            self._counts.bytes_from_clients -= len(said)
            self._client_said(client, broker, said)
        else:
            # Its first request has waited for this, most likely.
            self._hear(client, broker)

    def _ready(self, source: Leg, sink: Leg, frames: Conversation | Answers, events: int) -> None:
        """The usual case is spelled out, and what `receive` and `send` would do for it: nearly all events are this.

        Each function that is touched between two system calls shows in its CPU (`bench.dataplane.run --only many`).
        """
        self.active_at = self._epoll_set.now
        volley = self._volley
        room = volley.room
        try:
            if not (frames.idle and events == READABLE == source.watched == sink.watched):
                volley.fire()
                self._moves(source, sink, frames, events)
                return
            try:
                size = source.sock.recv_into(room)
            except OSError as failure:
                source.not_received(failure)
                return
            if not frames.passes(room, size):
                volley.fire()
                self._said(source, sink, room[:size])
                return
            if source is self._client:
                self._counts.bytes_from_clients += size
                if self._lane is not FIRST:
                    self._go_into(FIRST, source, sink)
            else:
                self._counts.bytes_from_brokers += size
            if size >= LEAST_TO_SPLICE:
                self._epoll_set.bulk()
            elif volley.is_open:
                volley.add(self, sink, size)
                return
            try:
                sent = sink.sock.send(room[:size])
            except OSError as failure:
                sent = sink.not_sent(failure, size)
            if sent < size:
                sink.keep(room[sent:size])
                self._arm()
        except Exception as failure:
            self._fail(failure)

    def fell_short(self, failure: Disconnect | None) -> None:
        if failure is not None:
            self._fail(failure)
        else:
            self._arm()

    def _fail(self, failure: Exception) -> None:
        """Whatever goes wrong ends this connection and no other."""
        if isinstance(failure, Disconnect):
            self.close(failure.cause, failure.detail)
        else:
            self.close(Cause.OUR_MISTAKE, "".join(traceback.format_exception(failure)))

    def _moves(self, source: Leg, sink: Leg, frames: Conversation | Answers, events: int) -> None:
        if source.stuck and events & ~READABLE:
            self._send_rest(source)
        if self._closed or not source.watched & READABLE or not events & ~WRITABLE:
            return
        if frames.to_come < LEAST_TO_SPLICE or self._lingering:
            self._hear(source, sink)
        elif not sink.stuck:
            self._splice(source, sink, frames)

    def _hear(self, source: Leg, sink: Leg) -> None:
        arrived = source.receive()
        while arrived is not None:
            self._said(source, sink, arrived)
            arrived = source.receive() if self._goes_on(source, sink) else None

    def _goes_on(self, source: Leg, sink: Leg) -> bool:
        """A large request has left, whole, and nothing is there to be passed on but what the client has sent meanwhile."""
        return (
            source is self._client
            and source.expects_large
            and source.watched & READABLE > 0
            and not (sink.stuck or self._closed or self._draining)
            and not sink.unread
            and self._epoll_set.may_go_on()
        )

    def _said(self, source: Leg, sink: Leg, arrived: Bytes) -> None:
        if source is self._client:
            self._client_said(source, sink, arrived)
        else:
            self._broker_said(source, sink, arrived)

    def _client_said(self, client: Leg, broker: Leg, arrived: Bytes) -> None:
        if not arrived:
            self._client_ended(broker)
            return
        conversation = self.conversation
        self._counts.bytes_from_clients += len(arrived)
        onward = conversation.from_client(arrived)
        if onward:
            broker.send(onward, conversation.to_come > 0)
            if broker.stuck:
                self._wait_for_room(broker)
        if conversation.desk is not None or conversation.owed.due:
            self._send_ours()
        self._keep_to_lane(client, broker)
        if conversation.full:
            self._throttled = True
            self._arm()
        if conversation.to_come >= LEAST_TO_SPLICE and not (broker.stuck or self._closed):
            self._splice(client, broker, conversation)

    def _broker_said(self, broker: Leg, client: Leg, arrived: Bytes) -> None:
        if not arrived:
            self._broker_ended(broker)
            return
        if self.node is None and self.dialled is not None:
            self._connections.heard_from(self.dialled, self.opened_at)
        conversation = self.conversation
        self._counts.bytes_from_brokers += len(arrived)
        onward = conversation.from_broker(arrived)
        if onward and not self._lingering:
            client.send(onward, conversation.owed.to_come > 0)
            if client.stuck:
                self._arm()
        if conversation.desk is not None:
            self._send_ours()
            self._keep_to_lane(client, broker)
        elif conversation.bound_for is not None:
            self._send_ours()
        self._let_go_on()
        if conversation.owed.to_come >= LEAST_TO_SPLICE and not (client.stuck or self._lingering or self._closed):
            self._splice(broker, client, conversation.owed)

    def _splice(self, source: Leg, sink: Leg, frames: Conversation | Answers) -> None:
        self._epoll_set.bulk()
        moved = source.fill(frames.to_come)
        # Read it is, whatever becomes of it: who outlives its client must know where the next answer begins.
        frames.to_come -= moved
        if source is self._client:
            self._counts.bytes_from_clients += moved
        else:
            self._counts.bytes_from_brokers += moved
        if moved:
            sink.empty_pipe(frames.to_come > 0)
        if sink.stuck:
            self._wait_for_room(sink)
        if not frames.to_come:
            self._send_ours()
            self._let_go_on()

    def _wait_for_room(self, sink: Leg) -> None:
        """Of a broker, and here if that keeps nobody else waiting. (To wait here for a client's too saved nothing when
        consuming.)"""
        if sink is self._broker:
            pair = {leg.sock: leg.watched for leg in (self._client, sink)}
            if self._epoll_set.has_room(sink.sock, pair):
                sink.send_rest()
        if sink.stuck:
            self._arm()

    def flush(self) -> None:
        """Something was asked or answered here outside of this connection's own events."""
        self._volley.fire()
        if self._closed or self.conversation.inside:
            return
        try:
            self._send_ours()
            self._let_go_on()
        except Exception as failure:
            self._fail(failure)

    def _let_go_on(self) -> None:
        """A client that had asked too much, now that some of it is answered."""
        if self._throttled and not (self._closed or self.conversation.full):
            self._throttled = False
            self._arm()

    def _send_ours(self) -> None:
        """What the desk asks and answers, and what the client sent behind a request that was in hand."""
        conversation, broker = self.conversation, self._broker
        if broker is None:
            return
        onward: Bytes = conversation.take_outbox()
        while onward or conversation.waiting():
            if onward:
                self._send(broker, onward)
            onward = conversation.from_client(b"") if conversation.waiting() else b""
        conversation.owed.release_locals()
        if due := conversation.owed.take_due():
            self._send(self._client, due)
        if self._lingering and conversation.is_unfinished:
            # By what lay behind a request in hand when its client went.
            raise Disconnect(Cause.CLIENT_CLOSED)
        if broker.ending and not self._closed:
            self._pass_end_on(broker)
        if conversation.can_move and not (broker.stuck or self._client.stuck):
            self._move(broker)
        if self._client.ended and not (self._may_half_close or self._lingering) and conversation.quiet:
            self.close(Cause.CLIENT_CLOSED)

    def _move(self, broker: Leg) -> None:
        if not self._connections.send(self, self._client.sock, broker.sock):
            self.conversation.stay()
            self._send_ours()
            return
        self._closed = True
        for leg in (self._client, broker):
            # It is not closed by this, so the kernel would go on telling of it.
            self._epoll_set.change(leg.sock, leg.watched, 0)
            self._epoll_set.forget(leg.sock)
            leg.abandon()
        self._connections.closed(self, Cause.MOVED, "")

    def _send(self, leg: Leg, data: Bytes) -> None:
        if leg is self._client and self._lingering:
            return
        leg.send(data)
        if leg.stuck:
            self._arm()

    def _send_rest(self, leg: Leg) -> None:
        leg.send_rest()
        if leg.stuck:
            return
        if leg.ending:
            self._pass_end_on(leg)
        if self.conversation.bound_for is not None:
            self._send_ours()
        self._arm()

    def _keep_to_lane(self, client: Leg, broker: Leg) -> None:
        """Whoever speaks for a member waits with others of its group; who has asked for something else only goes first."""
        desk = self.conversation.desk
        if desk is not None:
            lane: str | None = min(desk.groups, default=UNKNOWN)
        else:
            lane = FIRST if self.conversation.is_plain else UNKNOWN
        if lane != self._lane and not (self._closed or self._lingering):
            self._go_into(lane, client, broker)

    def _go_into(self, lane: str | None, client: Leg, broker: Leg) -> None:
        self._lane = lane
        self._epoll_set.put_in_lane(client.sock, lane)
        self._epoll_set.put_in_lane(broker.sock, lane)

    # ------------------------------------------------------------------------------------------------------ ending

    def _client_ended(self, broker: Leg) -> None:
        self._client.ended = True
        if self.conversation.bound_for is not None:
            # Who goes on with it will see the end as well.
            self._arm()
        elif self.conversation.quiet or self.conversation.is_needed:
            self.close(Cause.CLIENT_CLOSED)
        elif not self._may_half_close:
            self._end_when_quiet()
        else:
            broker.ending = True
            self._pass_end_on(broker)
            self._arm()

    def _end_when_quiet(self) -> None:
        """What the client has asked is answered first (`_send_ours`); what it has asked in part is not."""
        if self.conversation.request_under_way and not self.conversation.asks:
            self.close(Cause.CLIENT_CLOSED)
        else:
            self._arm()

    def _broker_ended(self, broker: Leg) -> None:
        broker.ended = True
        if broker.failure:
            raise Disconnect(broker.lost, broker.failure)
        if self._lingering:
            self.close(Cause.BROKER_CLOSED)
        else:
            self._client.ending = True
            self._pass_end_on(self._client)
            self._arm()

    def _pass_end_on(self, leg: Leg) -> None:
        """The other side says no more: what it said arrives before its end, and what the desk first asks about it."""
        if leg.stuck or (leg is self._broker and self.conversation.asks):
            return
        leg.ending = False
        if leg is self._client:
            self.close(Cause.CLIENT_CLOSED if leg.ended else Cause.BROKER_CLOSED)
            return
        # One that has gone already may have said something before that: it is read to its end.
        with contextlib.suppress(OSError):
            leg.sock.shutdown(SHUT_WR)

    def close(self, cause: Cause, detail: str = "") -> None:
        self._volley.fire()
        if self._closed or (cause in CLIENT_GONE and self._linger()):
            return
        self._closed = True
        self._dial.abandon()
        if self._broker is not None:
            throw_away(self._broker.sock, cause, self._lingering)
            self._epoll_set.forget(self._broker.sock)
            self._broker.abandon()
        if not self._lingering:
            self._part(cause)
        self._connections.closed(self, cause, detail)

    def _part(self, cause: Cause) -> None:
        client = self._client
        client.abandon()
        if cause in CLIENT_GONE or client.ended:
            self._epoll_set.forget(client.sock)
        else:
            self._epoll_set.change(client.sock, client.watched, 0)
            self._connections.part(client.sock, self.node, cause)

    def drain(self) -> None:
        self._draining = True
        if self.conversation.bound_for is not None:
            self.conversation.stay()
            self.flush()
        # Again and again: a request that had begun may be whole by now.
        self._arm()
        is_unsent = self._client.stuck or (self._broker is not None and self._broker.stuck)
        is_over = not is_unsent and self.conversation.quiet
        # Of a client that has gone nothing is owed to anybody, but what members say for the last time arrives.
        if is_over or (self._lingering and not self.conversation.asks_of_its_own):
            self.close(Cause.DRAINED)

    # --------------------------------------------------------------------------------------------------- lingering

    def _linger(self) -> bool:
        """The client has gone, a member stays: true if so."""
        if self.conversation.is_unfinished:
            return False
        if self._lingering:
            return True
        if self._broker is None or self._broker.ended or not self.conversation.is_needed:
            return False
        self._lingering = True
        self._epoll_set.forget(self._client.sock)
        self._client.watched = 0
        self._client.abandon()
        self._arm()
        self._connections.lingers(self)
        self.conversation.client_left()
        # It may have gone in the middle of something, and what was asked here meanwhile waits.
        self.flush()
        return True

    def release(self) -> None:
        """No member speaks on this connection any more."""
        if self._lingering and not self.conversation.is_needed:
            self.close(Cause.RELEASED)

    # -------------------------------------------------------------------------------------------------- what to await

    def stalled_by_client(self) -> bool:
        return bool(self._client.watched & READABLE)

    def connecting(self) -> bool:
        return self._broker is None

    def leaves_broker_unread(self) -> bool:
        """For a moment it does when the client has taken all, too, until the set has had its turn."""
        return self._client.stuck or (self._broker is not None and self._broker.unread)

    def swallows(self) -> bool:
        return self._broker is not None and is_swallowed(self._broker.sock)

    def silent_ms(self) -> int:
        return 0 if self._broker is None else silent_ms(self._broker.sock)

    def pass_over(self, patience_seconds: float) -> None:
        try:
            self._dial.pass_over(self._dialled, patience_seconds)
        except Exception as failure:
            self._fail(failure)

    def _arm(self) -> None:
        """Watch for what can be acted on now: room to send what is unsent, and news only when it can be passed on."""
        client, broker = self._client, self._broker
        if broker is None or self._closed:
            return
        held = self._throttled or (self._draining and not self.conversation.request_under_way)
        # Who does not take its answers may not ask for more: some are made here, and no broker holds them back.
        if not self._lingering:
            self._watch(client, not (client.ended or broker.stuck or client.stuck or held))
        self._watch(broker, not (broker.ended or client.stuck))

    def _watch(self, leg: Leg, read: bool) -> None:
        events = (READABLE if read else 0) | (WRITABLE if leg.stuck else 0)
        if events != leg.watched:
            self._epoll_set.change(leg.sock, leg.watched, events)
            leg.watched = events
