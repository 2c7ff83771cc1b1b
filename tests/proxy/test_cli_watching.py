"""`status` and `report` against an admin port, and what they say when there is none."""

from __future__ import annotations

import io
import json

import pytest
import trio

from proxy.admin import serve_admin
from proxy.cli import main
from proxy.logs import Log
from proxy.pages import picture_pages
from proxy.picture import Picture
from tests.kafka.ports import free_ports
from tests.unit.test_picture import changed, passes


@pytest.fixture
async def admin(nursery: trio.Nursery) -> str:
    picture = Picture()
    picture.observe(changed("alice", owned=(0, 1), assigned=(0, 1), group="orders/eu"))
    picture.observe(passes("bob"))
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(serve_admin, listeners, picture_pages(picture), Log(out=io.StringIO()))
    return "{}:{}".format(*listeners[0].socket.getsockname())


async def run(*arguments: str) -> int:
    return await trio.to_thread.run_sync(main, arguments)


async def test_status_lists_members_with_their_software(admin: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert await run("status", "--admin", admin, "--once") == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[:4] == ["group", "member", "phase", "standing"]
    assert ["orders/eu", "alice", "stable", "stable", "7", "6", "2", "0", "librdkafka", "1.9.2"] in [
        row.split() for row in rows
    ]


async def test_report_says_who_needs_the_proxy_and_why_others_do_not(
    admin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await run("report", "--admin", admin, "--json") == 0
    needs = {group["group_id"]: group["needs_the_proxy"] for group in json.loads(capsys.readouterr().out)}
    assert needs == {"orders/eu": True, "orders": False}


async def test_a_feed_begins_with_everything(admin: str) -> None:
    host, port = admin.split(":")
    stream = await trio.open_tcp_stream(host, int(port))
    async with stream:
        await stream.send_all(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while b"bob" not in answer:
            answer += await stream.receive_some(65536)
    assert b"text/event-stream" in answer
    assert b'"whole":true' in answer


def test_no_proxy_there_names_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--admin", f"127.0.0.1:{free_ports(1)[0]}", "--once"]) == 1
    assert "--admin HOST:PORT" in capsys.readouterr().err
