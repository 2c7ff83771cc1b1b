"""The admin port over real sockets, raw bytes included."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import struct
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import trio
import trio.lowlevel

from proxy.addresses import Address
from proxy.admin import (
    FIRST_REQUEST_SECONDS,
    MAX_CONNECTIONS,
    REQUEST_SECONDS,
    Feed,
    Page,
    health_pages,
    open_admin,
    serve_admin,
)
from proxy.logs import Log
from tests.kafka.ports import free_ports


async def never() -> AsyncGenerator[bytes, None]:
    await trio.sleep_forever()
    yield b""


class Admin:
    def __init__(self, port: int) -> None:
        self.port = port
        self.missing: list[str] = []
        self.over = trio.Event()

    async def busy(self) -> AsyncGenerator[bytes, None]:
        try:
            while True:
                yield b"news\n"
                await trio.lowlevel.checkpoint()
        finally:
            self.over.set()

    async def send(self, data: bytes) -> bytes:
        stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        async with stream:
            answer = b""
            # Who sends too much may be cut off before reading what was said about it.
            with contextlib.suppress(trio.BrokenResourceError):
                await stream.send_all(data)
                while chunk := await stream.receive_some(4096):
                    answer += chunk
            return answer

    async def get(self, path: str, method: str = "GET") -> tuple[int, bytes]:
        answer = await self.send(f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), body


@pytest.fixture
async def admin(nursery: trio.Nursery) -> Admin:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    running = Admin(listeners[0].socket.getsockname()[1])
    pages = health_pages(lambda: running.missing, lambda: b"metric 1\n")
    broken: dict[str, Any] = {**pages, "/broken": lambda: 1 / 0, "/feed": lambda: Feed("text/plain", never)}
    broken["/large"] = lambda: Page(200, "text/plain", bytes(8 * 1024 * 1024))
    broken["/busy"] = lambda: Feed("text/plain", running.busy)
    nursery.start_soon(serve_admin, listeners, broken, Log(out=io.StringIO()))
    return running


@pytest.mark.parametrize(("host", "reached"), [("::", ["::1", "127.0.0.1"]), ("0.0.0.0", ["127.0.0.1"])])
async def test_a_wildcard_is_reached_by_every_address_that_it_stands_for(host: str, reached: list[str]) -> None:
    port = free_ports(1)[0]
    async with contextlib.AsyncExitStack() as bound:
        for listener in await open_admin(Address(host, port)):
            await bound.enter_async_context(listener)
        for address in reached:
            await (await trio.open_tcp_stream(address, port)).aclose()


async def test_live_is_live(admin: Admin) -> None:
    assert await admin.get("/livez") == (200, b'{"live": true}\n')


async def test_ready_says_what_is_missing(admin: Admin) -> None:
    assert (await admin.get("/readyz"))[0] == 200
    admin.missing = ["no broker of kafka:9092 answers"]
    status, body = await admin.get("/readyz?verbose")
    assert status == 503
    assert json.loads(body) == {"ready": False, "missing": admin.missing}


async def test_metrics_are_text(admin: Admin) -> None:
    assert await admin.get("/metrics") == (200, b"metric 1\n")


async def test_an_unknown_path_is_answered_with_those_there_are(admin: Admin) -> None:
    status, body = await admin.get("/")
    assert status == 404
    assert json.loads(body)["pages"] == ["/broken", "/busy", "/feed", "/large", "/livez", "/metrics", "/readyz"]


async def test_head_has_the_length_but_no_body(admin: Admin) -> None:
    assert await admin.get("/livez", "HEAD") == (200, b"")
    assert await admin.get("/feed", "HEAD") == (200, b"")


async def test_other_methods_are_refused(admin: Admin) -> None:
    assert (await admin.get("/livez", "DELETE"))[0] == 405


async def test_a_page_that_fails_is_an_error_of_its_own(admin: Admin) -> None:
    assert (await admin.get("/broken"))[0] == 500
    assert (await admin.get("/livez"))[0] == 200


async def test_several_requests_on_one_connection(admin: Admin) -> None:
    one = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert (await admin.send(one + one + last)).count(b"200 ") == 3


@pytest.mark.parametrize(
    "data", [b"\x00\x01\x02 nonsense\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"X" * 40_000]
)
async def test_what_is_no_http_gets_an_error_and_an_end(admin: Admin, data: bytes) -> None:
    answer = await admin.send(data)
    assert answer == b"" or answer.split()[1] in (b"400", b"431")
    assert (await admin.get("/livez"))[0] == 200


async def test_http_1_0_is_answered(admin: Admin) -> None:
    assert (await admin.send(b"GET /livez HTTP/1.0\r\n\r\n")).endswith(b'{"live": true}\n')


async def test_a_client_that_never_finishes_is_cut_off(admin: Admin, autojump_clock: trio.testing.MockClock) -> None:
    assert await admin.send(b"GET /livez HT") == b""


async def test_who_says_nothing_is_soon_cut_off(admin: Admin, autojump_clock: trio.testing.MockClock) -> None:
    assert await admin.send(b"") == b""
    assert trio.current_time() < REQUEST_SECONDS


async def test_a_request_may_follow_another_later_than_the_first_may_come(
    admin: Admin, autojump_clock: trio.testing.MockClock
) -> None:
    async with await trio.open_tcp_stream("127.0.0.1", admin.port) as stream:
        for _ in range(3):
            await stream.send_all(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 200 ")
            await trio.sleep(REQUEST_SECONDS - 1)


async def test_who_asks_and_does_not_read_keeps_no_probe_from_its_answer(admin: Admin) -> None:
    async with contextlib.AsyncExitStack() as crowd:
        for _ in range(2 * MAX_CONNECTIONS):
            stream = await trio.open_tcp_stream("127.0.0.1", admin.port)
            await crowd.enter_async_context(stream)
            with trio.move_on_after(0.01), contextlib.suppress(trio.BrokenResourceError):
                await stream.send_all(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        with trio.fail_after(REQUEST_SECONDS / 2):
            assert (await admin.get("/livez"))[0] == 200


@pytest.mark.parametrize("said", [b"", b"GET /livez HT", b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"])
async def test_who_takes_all_places_and_comes_again_at_once_keeps_no_probe_from_its_answer(
    admin: Admin, nursery: trio.Nursery, said: bytes
) -> None:
    came = 0

    async def come_again() -> None:
        nonlocal came
        while True:
            with contextlib.suppress(OSError, trio.BrokenResourceError):
                async with await trio.open_tcp_stream("127.0.0.1", admin.port) as stream:
                    came += 1
                    await stream.send_all(said)
                    while await stream.receive_some():
                        pass

    crowd = 4 * MAX_CONNECTIONS
    for _ in range(crowd):
        nursery.start_soon(come_again)
    while came < 2 * crowd:
        await trio.lowlevel.checkpoint()
    for _ in range(3):
        # If all others had their time, it would be the turn of a probe after four times that.
        with trio.fail_after(3 * FIRST_REQUEST_SECONDS):
            assert (await admin.get("/livez"))[0] == 200


async def test_a_feed_ends_with_its_reader(admin: Admin) -> None:
    async with await trio.open_tcp_stream("127.0.0.1", admin.port) as stream:
        await stream.send_all(b"GET /busy HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"news" in await stream.receive_some() + await stream.receive_some()
        assert not admin.over.is_set()
    with trio.fail_after(5):
        await admin.over.wait()


async def test_who_is_wrong_and_hangs_up_before_it_is_told_ends_nobody_else(admin: Admin) -> None:
    for wrong in (
        b"garbage\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost: \xff\r\n\r\n",
    ):
        for _ in range(10):
            with socket.create_connection(("127.0.0.1", admin.port)) as sock:
                # Closed with a reset.
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                sock.sendall(wrong)
            await trio.lowlevel.checkpoint()
    assert (await admin.get("/livez"))[0] == 200
