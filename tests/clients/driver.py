"""One client program as a test sees it: commands go in, events come out, and somebody may pull the plug."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import trio

from tests.clients.libraries import LIBRARIES, OLDER

LOOK_EVERY_SECONDS = 0.02
# Nothing waits for so long but what has failed; a machine that is slow is no reason to fail.
PATIENCE_SECONDS = 60
Event = dict[str, Any]
Partition = tuple[str, int]


class Tls(NamedTuple):
    authority: Path
    # One PEM file with key and chain, for mutual TLS.
    certificate: Path | None = None


class Sasl(NamedTuple):
    mechanism: str
    user: str = "alice"
    password: str = "alice-secret"
    # GSSAPI's, of the Java programs: the folder of a `Kdc`. The user's keytab is there, and the hosts that may be dialled.
    kerberos: str = ""


class ClientEnded(Exception):
    """The program ended while an event was awaited."""


class Client:
    """The program's events go to a file, so nothing need run here for the program to run, and the file can be read when
    all is over. It has a pipe for its commands, and ends at once when that closes: it cannot outlive us.
    """

    def __init__(self, library: str, bootstrap: str, name: str, tls: Tls | None, sasl: Sasl | None) -> None:
        self.library = library
        self.name = name
        self.folder = Path(tempfile.mkdtemp(prefix=f"client-{library}-{name}-"))
        self.events: list[Event] = []
        self.subscribed_at_ms: float | None = None
        self.killed_at_ms: float | None = None
        self._awaited = 0
        self._bytes_read = 0
        told = {
            "bootstrap": bootstrap,
            "name": name,
            "tls": tls and {"authority": str(tls.authority), "certificate": tls.certificate and str(tls.certificate)},
            "sasl": sasl and sasl._asdict(),
        }
        with (self.folder / "events").open("wb") as events, (self.folder / "errors").open("wb") as errors:
            self._process = subprocess.Popen(
                [*{**LIBRARIES, **OLDER}[library].command(), json.dumps(told)],
                stdin=subprocess.PIPE,
                stdout=events,
                stderr=errors,
                start_new_session=True,
            )

    @classmethod
    async def start(
        cls,
        library: str,
        bootstrap: str,
        *,
        name: str = "alice",
        tls: Tls | None = None,
        sasl: Sasl | None = None,
        within: float = PATIENCE_SECONDS,
    ) -> Client:
        # The first of its kind is built, which may take a minute.
        client = await trio.to_thread.run_sync(cls, library, bootstrap, name, tls, sasl)
        try:
            await client.event("ready", within=within)
        except BaseException as failure:
            await client.__aexit__(type(failure), failure, None)
            raise
        return client

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        self.kill()
        if error is None:
            shutil.rmtree(self.folder)
        else:
            error.add_note(f"what {self.name} ({self.library}) said is in {self.folder}")

    # ---------------------------------------------------------------------------------------------------- commands

    async def create_topic(self, topic: str, partitions: int = 1, replication: int = 1) -> None:
        self._send("create_topic", topic=topic, partitions=partitions, replication=replication)
        await self.event("topic_created")

    async def metadata(self) -> dict[int, str]:
        """Node -> HOST:PORT, as the library was told."""
        self._send("metadata")
        return dict((await self.event("metadata"))["brokers"])

    async def produce(
        self,
        topic: str,
        count: int,
        *,
        first: int = 0,
        within: float = PATIENCE_SECONDS,
        settings: dict[str, Any] | None = None,
    ) -> None:
        """Keys and values are the numbers from `first` on. `settings` are in the library's own words."""
        self._send("produce", topic=topic, count=count, first=first, settings=settings or {})
        await self.event("produced", within=within)

    async def transact(
        self,
        topic: str,
        count: int,
        *,
        transactional_id: str,
        first: int = 0,
        abort: bool = False,
        within: float = PATIENCE_SECONDS,
    ) -> None:
        self._send("transact", topic=topic, count=count, first=first, transactional_id=transactional_id, abort=abort)
        await self.event("transacted", within=within)

    def subscribe(
        self,
        topics: str | Sequence[str],
        group: str,
        *,
        strategy: str | None = None,
        protocol: str = "classic",
        commit: str = "auto",
        instance_id: str | None = None,
        session_timeout_ms: int | None = None,
        heartbeat_interval_ms: int | None = None,
        max_poll_interval_ms: int | None = None,
        revoke_ms: int = 0,
        transform: dict[str, str] | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        """Joins the group and polls from then on.

        `commit` is "auto" (every 500 ms), "default" (as the library does when told nothing), "each" (after each poll,
        synchronously) or "none". The revoke callback sleeps
        for `revoke_ms`. `transform={"to": topic, "transactional_id": id}` copies every record read, and commits its offset,
        in transactions.
        """
        self.subscribed_at_ms = time.time() * 1000
        self._send(
            "subscribe",
            topics=[topics] if isinstance(topics, str) else list(topics),
            group=group,
            strategy=strategy,
            protocol=protocol,
            commit=commit,
            instance_id=instance_id,
            session_timeout_ms=session_timeout_ms,
            heartbeat_interval_ms=heartbeat_interval_ms,
            max_poll_interval_ms=max_poll_interval_ms,
            revoke_ms=revoke_ms,
            transform=transform,
            settings=settings or {},
        )

    def resubscribe(self, topics: Sequence[str]) -> None:
        """Other topics, in the midst of polling: of Java, confluent-kafka and aiokafka."""
        self._send("resubscribe", topics=list(topics))

    def rejoin(self) -> None:
        """The application asks for a rebalance (KIP-568): of the Java programs and franz-go."""
        self._send("rejoin")

    async def commit(self, within: float = PATIENCE_SECONDS) -> list[tuple[str, int, int]]:
        self._send("commit")
        return [(t, p, offset) for t, p, offset in (await self.event("committed", within=within))["offsets"]]

    def stall(self, stall_ms: int) -> None:
        """The application hangs: nothing is polled. In libraries with a heartbeat thread that goes on."""
        self._send("stall", stall_ms=stall_ms)

    async def leave(self, within: float = PATIENCE_SECONDS) -> Event:
        """The group, in the library's own manner. Its program has yet to end: a JVM takes a while."""
        self._send("close")
        return await self.event("closed", within=within)

    async def close(self, within: float = PATIENCE_SECONDS) -> None:
        """Leaves, and ends."""
        await self.leave(within)
        await self.until(lambda: self._process.poll() is not None, within, "its end")

    def kill(self) -> None:
        """SIGKILL, if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self.killed_at_ms = time.time() * 1000
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._look()

    def pause(self) -> None:
        """SIGSTOP: heartbeats stop too."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    # ------------------------------------------------------------------------------------------------------ events

    async def event(self, kind: str, within: float = PATIENCE_SECONDS, **like: Any) -> Event:
        """The next event of that kind (with those fields) after the last one awaited."""

        def found() -> Event | None:
            for index in range(self._awaited, len(self.events)):
                event = self.events[index]
                if event["event"] == kind and like.items() <= event.items():
                    self._awaited = index + 1
                    return event
            return None

        return await self.until(found, within, f"event {kind} {like or ''}")

    async def until(
        self, probe: Callable[[], Any], within: float = PATIENCE_SECONDS, what: str = "what was awaited"
    ) -> Any:
        """alice.until(lambda: len(alice.values) == 100): looks whenever something may have happened."""
        deadline = trio.current_time() + within
        while True:
            running = self._process.poll() is None
            self._look()
            answer = probe()
            if answer:
                return answer
            if not running:
                raise ClientEnded(f"{what}: {self.name} ended with {self._process.returncode}\n{self._story()}")
            if trio.current_time() > deadline:
                raise TimeoutError(f"{what}: not within {within} s\n{self._story()}")
            await trio.sleep(LOOK_EVERY_SECONDS)

    @property
    def owned(self) -> set[Partition]:
        """What the application holds now, by its own callbacks."""
        self._look()
        owned: set[Partition] = set()
        for event in self.events:
            if event["event"] == "assigned":
                owned |= partitions(event)
            elif event["event"] in ("revoked", "lost"):
                owned -= partitions(event)
        return owned

    @property
    def gave_up(self) -> bool:
        """Its program has ended, or says that its library has, and will not begin anew."""
        return self._process.poll() is not None or any(each.get("restart") is False for each in self.seen("error"))

    @property
    def records(self) -> list[tuple[str, int, int, str]]:
        """(topic, partition, offset, value), in the order read."""
        self._look()
        return [tuple(record) for event in self.events if event["event"] == "records" for record in event["records"]]

    @property
    def values(self) -> list[str]:
        return [value for _, _, _, value in self.records]

    def seen(self, kind: str) -> list[Event]:
        self._look()
        return [event for event in self.events if event["event"] == kind]

    # ----------------------------------------------------------------------------------------------------- details

    def _send(self, do: str, **fields: Any) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **fields}).encode() + b"\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as failure:
            raise ClientEnded(f"{do}: {self.name} has ended\n{self._story()}") from failure

    def _look(self) -> None:
        with (self.folder / "events").open("rb") as file:
            file.seek(self._bytes_read)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._bytes_read += len(whole) + len(newline)
        self.events += [json.loads(line) for line in whole.splitlines()]

    def _story(self) -> str:
        """Its errors first: who reads on has soon said a dozen things since."""
        told = [str(event)[:300] for event in [*self.seen("error")[-3:], *self.events[-12:]]]
        errors = (self.folder / "errors").read_text(errors="replace")[-1_500:]
        return "\n".join([f"{self.name} ({self.library}) said last:", *told, errors])


def partitions(event: Event) -> set[Partition]:
    return {(topic, partition) for topic, partition in event["partitions"]}
