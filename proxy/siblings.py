"""What the processes of one proxy have in common (`processes` above 1): who has which group, and which ports are theirs.

The kernel gives each connection to any of those that listen on its port (SO_REUSEPORT). But the members of a group know more
together than apart (`groups/together.py`), and a member's requests may come over several connections: so each group is one
process', by its name alone. A connection that first asks something of a group which is another's goes there, both of its
sockets, with what its client has said and nobody has looked at: from then on it is as if the kernel had given it to that one.
It goes when everything that was asked before is answered, so there is nothing else to be told of it.

A letter is a datagram that carries sockets (unix(7)), from one queue of the kernel to another. The queues are the parent's
(`processes.py`): what is in one when its reader dies, the next one reads.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b

import msgspec

from proxy.addresses import Address
from proxy.settings import HIGHEST_PORT

# How their parent tells them not to drain any longer. That they are to drain they hear by its end, and by whatever signal a
# supervisor sends each: so two of these are not yet a second request.
AT_ONCE = signal.SIGUSR1
# The client's, the broker's, and a file with the letter.
DESCRIPTORS = 3
# The datagram itself; it may not be empty.
ENVELOPE = b"."


class Letter(msgspec.Struct, frozen=True):
    """A connection that comes from a sibling, but for its sockets."""

    client: str
    # Whose door it came in at, and which address was dialled for it.
    node: int | None
    dialled: Address
    software: tuple[str, str]
    # What the client has said: whole requests, and perhaps the beginning of another.
    said: bytes
    # Its sockets lead to the sibling, where TLS ends (relaying.py).
    has_tls: bool = False
    certificate: bytes | None = None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Letter).decode


class Ports:
    """Which ports some process of this proxy has opened, in memory that all of them see. The kernel lets any process of this
    user in on a port that is shared, one of another proxy too: so whoever comes first looks whether it is free."""

    def __init__(self) -> None:
        self._opened = mmap.mmap(-1, HIGHEST_PORT + 1)
        self._lock = os.memfd_create("ports")

    @contextmanager
    def opening(self, port: int) -> Iterator[bool]:
        """Whether it is the first of us that opens it; the others wait meanwhile. Where that fails, the next is the first."""
        fcntl.lockf(self._lock, fcntl.LOCK_EX)
        try:
            yield not self._opened[port]
            self._opened[port] = 1
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)


class Siblings:
    def __init__(
        self,
        number: int,
        ports: Ports,
        inboxes: Sequence[socket.socket],
        queues: Sequence[socket.socket],
        parent: int,
    ) -> None:
        """`number`: which of them this one is. `inboxes`: where each reads. `queues`: where others write to it. `parent`: a
        descriptor that can be read from once the parent is no more, or wants all to end."""
        self.parent = parent
        self.number = number
        self.ports = ports
        self.inbox = inboxes[number]
        self._queues = queues

    def whose(self, group_id: str) -> int:
        name = blake2b(group_id.encode(errors="surrogatepass"), digest_size=8).digest()
        return int.from_bytes(name) % len(self._queues)

    def is_ours(self, group_id: str) -> bool:
        return self.whose(group_id) == self.number

    def send(self, number: int, letter: Letter, client: socket.socket, broker: socket.socket) -> bool:
        """False: it finds no room there. A queue that nobody reads is full after some hundreds."""
        try:
            file = os.memfd_create("letter")
        except OSError:
            return False
        try:
            os.write(file, _encode(letter))
            socket.send_fds(self._queues[number], [ENVELOPE], [client.fileno(), broker.fileno(), file])
        except OSError:
            return False
        finally:
            os.close(file)
        return True

    def receive(self) -> tuple[Letter, socket.socket, socket.socket] | None:
        """The next letter, and the sockets of the client and the broker; None when there is none. Raises OSError where there
        are no descriptors for them: then they are closed."""
        try:
            _, descriptors, _, _ = socket.recv_fds(self.inbox, len(ENVELOPE), DESCRIPTORS)
        except BlockingIOError:
            return None
        if len(descriptors) < DESCRIPTORS:
            for descriptor in descriptors:
                os.close(descriptor)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        client, broker, file = descriptors
        with open(file, "rb") as written:
            written.seek(0)
            letter = _decode(written.read())
        sockets = socket.socket(fileno=client), socket.socket(fileno=broker)
        for each in sockets:
            each.setblocking(False)
        return letter, *sockets
