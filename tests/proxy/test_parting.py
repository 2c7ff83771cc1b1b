"""The last answer of a connection that ends here reaches its client, however slow that is and whatever else it has sent."""

from __future__ import annotations

import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from struct import pack, unpack

import pytest

from kafka_protocol.messages import keys
from tests.kafka.certificates import Certificates
from tests.proxy.running import Running

# More than the kernel takes for a client that does not read; how it comes out of that client, piece by piece.
ANSWER = 300_000
PIECE = 4_096


class OneAnswer:
    """A broker that answers a Fetch when told to, and nothing else; then it may hang up."""

    def __init__(self, hangs_up: bool) -> None:
        self.speaks = threading.Event()
        self._hangs_up = hangs_up
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._server.accept()
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        # The proxy may go while it is being spoken to.
        with suppress(OSError), client, client.makefile("rb") as said:
            while header := said.read(12):
                size, api, _, correlation_id = unpack(">ihhi", header)
                said.read(size - 8)
                if api == keys.FETCH:
                    self.speaks.wait()
                    client.sendall(pack(">ii", 4 + ANSWER, correlation_id) + bytes(ANSWER))
                    if self._hangs_up:
                        client.shutdown(socket.SHUT_WR)


def fetch(correlation_id: int) -> bytes:
    return pack(">ihhih", 10, keys.FETCH, 11, correlation_id, -1)


def plaintext(proxy: Running) -> socket.socket:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, PIECE)
    sock.settimeout(30)
    sock.connect(("127.0.0.1", proxy.base))
    return sock


def tls(proxy: Running) -> socket.socket:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    return trusting.wrap_socket(plaintext(proxy), suppress_ragged_eofs=True)


@contextmanager
def in_front_of(broker: OneAnswer, connect: Callable[[Running], socket.socket], folder: Path) -> Iterator[Running]:
    config = folder / "proxy.toml"
    pem = Certificates().issue("proxy", "127.0.0.1")
    config.write_text(
        f'[client_tls]\ncertificate_file = "{pem}"\nprivate_key_file = "{pem}"\n' if connect is tls else ""
    )
    with Running(broker.address, "--config", str(config)) as proxy:
        yield proxy


def heard(sock: socket.socket) -> int:
    """How many bytes, until the end."""
    count = 0
    while piece := sock.recv(PIECE):
        count += len(piece)
    return count


@pytest.mark.parametrize("connect", [plaintext, tls])
def test_a_drain_does_not_cut_an_answer_that_is_on_its_way(
    connect: Callable[[Running], socket.socket], tmp_path: Path
) -> None:
    broker = OneAnswer(hangs_up=False)
    with in_front_of(broker, connect, tmp_path) as proxy, connect(proxy) as client:
        client.sendall(fetch(1))
        proxy.wait_for(lambda: proxy.metric("requests_total", api="Fetch") == 1, "it is asked")
        proxy.process.send(signal.SIGTERM)
        proxy.wait_for(lambda: "draining" in proxy.log.read_text(), "it drains")
        client.sendall(fetch(2))
        broker.speaks.set()
        assert heard(client) == 8 + ANSWER
        assert proxy.process.wait() == 0
        assert "still busy" not in proxy.log.read_text()


@pytest.mark.parametrize("connect", [plaintext, tls])
def test_a_broker_that_hangs_up_does_not_cut_its_answer(
    connect: Callable[[Running], socket.socket], tmp_path: Path
) -> None:
    broker = OneAnswer(hangs_up=True)
    with in_front_of(broker, connect, tmp_path) as proxy, connect(proxy) as client:
        client.sendall(fetch(1))
        proxy.wait_for(lambda: proxy.metric("requests_total", api="Fetch") == 1, "it is asked")
        broker.speaks.set()
        # It is not read: as long as the answer is not taken, no more is asked.
        client.recv(1)
        client.sendall(fetch(2))
        assert 1 + heard(client) == 8 + ANSWER
        proxy.wait_for(lambda: proxy.disconnects("broker_closed") == 1, "it is counted")
        proxy.stop()
