"""The status page in a real headless browser: Debian's chromium, by its own DevTools."""

from __future__ import annotations

import io
import os
import re
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio

from proxy.admin import serve_admin
from proxy.logs import Log
from proxy.pages import connection_pages, picture_pages, process_pages
from proxy.picture import Picture
from tests.unit.test_certificates import named
from tests.unit.test_desk import Desk
from tests.unit.test_picture import asks, changed, passes
from tests.unit.test_tls_link import Ends
from translation.states import Phase

CHROMIUM = shutil.which("chromium")
sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
# A machine with much else to do is slow, and no less right.
PATIENCE_MS = 60_000
sync_api.expect.set_options(timeout=PATIENCE_MS)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt install chromium")

Look = Callable[[Any], Any]


class Stage(NamedTuple):
    picture: Picture
    ends: Ends
    look: Callable[..., Awaitable[Any]]


@pytest.fixture
async def stage(nursery: trio.Nursery) -> Stage:
    """The page, served; `look(script, dark)` opens it in a browser of its own thread and returns what the script saw."""
    picture, ends = Picture(), Ends(Desk())
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    url = "http://{}:{}/".format(*listeners[0].socket.getsockname())
    port = listeners[0].socket.getsockname()[1]
    several = process_pages([port - 1, port, port + 1])
    pages = {**picture_pages(picture), **connection_pages(ends.connections), **several}
    nursery.start_soon(serve_admin, listeners, pages, Log(out=io.StringIO()))

    async def look(script: Look, scheme: str = "light") -> Any:
        return await trio.to_thread.run_sync(_look, url, script, scheme)

    return Stage(picture, ends, look)


def _look(url: str, script: Look, scheme: str) -> Any:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE_MS)
        page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE_MS)
        complaints: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(url)
        seen = script(page)
        if "PAGE_SHOTS" in os.environ:
            page.screenshot(path=Path(os.environ["PAGE_SHOTS"]) / f"{script.__name__}-{scheme}.png")
        browser.close()
        assert not [text for text in complaints if "favicon" not in text and "404" not in text]
        assert all(address.startswith(url) for address in asked)
        return seen


async def test_members_and_who_holds_what_are_shown(stage: Stage) -> None:
    stage.picture.observe(changed("alice", owned=(0, 1), assigned=(0, 1), at_ns=1))
    stage.picture.observe(passes("bob"))

    def members(page: Any) -> str:
        page.wait_for_selector("#members tr >> nth=1")
        return str(page.inner_text("#members"))

    text = await stage.look(members)
    assert "clicks 0 1" in text
    assert "librdkafka 1.9.2" in text
    assert "a rule lets it pass" in text


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 29)")])
async def test_it_is_light_by_day_and_dark_by_night(stage: Stage, scheme: str, paper: str) -> None:
    def colour(page: Any) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    assert await stage.look(colour, scheme) == paper


async def test_a_change_shows_without_reloading(stage: Stage) -> None:
    stage.picture.observe(changed("alice"))

    def live(page: Any) -> None:
        page.wait_for_selector("#members tr")
        trio.from_thread.run_sync(stage.picture.observe, changed("alice", phase=Phase.PREPARE_REBALANCE))
        page.wait_for_selector("#members td.prepare-rebalance")
        trio.from_thread.run_sync(stage.picture.observe, changed("alice", phase=Phase.ABSENT))
        page.wait_for_selector("#members tr", state="detached")

    await stage.look(live)


async def test_the_keyboard_searches_and_walks_the_groups(stage: Stage) -> None:
    for group in ("orders", "payments"):
        stage.picture.observe(changed(f"of-{group}", group=group))

    def keys(page: Any) -> None:
        page.wait_for_selector("#members tr:has-text('of-orders')")
        page.keyboard.press("ArrowDown")
        page.wait_for_selector("#members tr:has-text('of-payments')")
        page.keyboard.press("/")
        page.keyboard.type("of-ord")
        page.wait_for_selector("#members tr:has-text('of-orders')")
        assert page.locator("#groups button").count() == 1
        page.keyboard.press("Escape")
        sync_api.expect(page.locator("#groups button")).to_have_count(2)

    await stage.look(keys)


async def test_a_thousand_members_are_drawn_and_one_change_redraws_one_row(stage: Stage) -> None:
    now = time.time_ns()
    for n in range(1000):
        stage.picture.observe(
            changed(f"member-{n:04}", owned=(n,), assigned=(n,), at_ns=now - (1000 - n) * 100_000_000)
        )

    def thousand(page: Any) -> int:
        sync_api.expect(page.locator("#members tr")).to_have_count(1000)
        page.evaluate(
            "window.redrawn = new Set();"
            "new MutationObserver(all => all.forEach(m => m.target.tagName === 'TR' && window.redrawn.add(m.target)))"
            ".observe(document.getElementById('members'), {childList: true, subtree: true})"
        )
        trio.from_thread.run_sync(stage.picture.observe, changed("member-0500", phase=Phase.PREPARE_REBALANCE))
        page.wait_for_selector("#members td.prepare-rebalance")
        return int(page.evaluate("window.redrawn.size"))

    assert await stage.look(thousand) == 1


async def test_of_many_members_those_that_moved_are_in_the_timeline(stage: Stage) -> None:
    now = time.time_ns()
    for n in range(100):
        stage.picture.observe(changed(f"m-{n:02}", owned=(n,), assigned=(n,), at_ns=now))
    stage.picture.observe(changed("m-99", phase=Phase.PREPARE_REBALANCE, owned=(), assigned=(99,), at_ns=now + 1))

    def drawn(page: Any) -> list[str]:
        page.wait_for_selector("#timeline text:has-text('m-99')")
        return list(page.locator("#timeline text").all_text_contents())

    lanes = await stage.look(drawn)
    assert [lane for lane in lanes if "80 more are not drawn" in lane] == [
        "partitions, in the colour of their holder; 80 more are not drawn: search",
        "members, in the colour of their phase; 80 more are not drawn: search",
    ]
    assert {"clicks-99", "m-99", "m-00", "clicks-0"} <= set(lanes)


async def test_connections_are_shown_to_who_asks_for_them(stage: Stage) -> None:
    talk = stage.ends.link.conversation
    talk.desk, talk.software = Desk(), ("librdkafka", "1.9.2")
    talk.desk.groups.add("orders")
    stage.ends.link.certificate = named("billing")

    def opened(page: Any) -> list[str]:
        assert page.locator("#connections tbody tr").count() == 0
        page.click("#connections summary")
        page.wait_for_selector("#connections tbody tr")
        return list(page.locator("#connections tbody td").all_text_contents()[:6])

    assert await stage.look(opened) == ["a client CN=billing", "desk", "librdkafka 1.9.2", "orders", "", "0"]


async def test_each_process_of_a_proxy_leads_to_the_others(stage: Stage) -> None:
    def led(page: Any) -> None:
        others = page.locator("#processes a")
        sync_api.expect(others).to_have_text(["0", "1", "2"])
        port = int(page.evaluate("location.port"))
        led_to = [int(link.split(":")[-1].strip("/")) for link in others.evaluate_all("them => them.map(a => a.href)")]
        assert led_to == [port - 1, port, port + 1]
        assert page.locator("#processes a[aria-current]").all_text_contents() == ["1"]

    await stage.look(led)


async def test_how_long_ago_a_client_was_heard_is_asked_for_again_and_again(stage: Stage) -> None:
    """A beat that moves nobody is no event; a change that is one keeps what was last heard."""
    stage.picture.observe(changed("alice", at_ns=time.time_ns() - 90 * 10**9))
    stage.picture.observe(passes("bob"))

    def heard(page: Any) -> None:
        ages = page.locator("#members td:last-child")
        sync_api.expect(ages).to_have_text([re.compile("^9[0-9]$"), ""])
        trio.from_thread.run_sync(stage.picture.observe, changed("alice", phase=Phase.PREPARE_REBALANCE))
        page.wait_for_selector("#members td.prepare-rebalance")
        sync_api.expect(ages).to_have_text([re.compile("^9[0-9]$"), ""])
        trio.from_thread.run_sync(stage.picture.observe, asks("Heartbeat", time.time_ns() - 7 * 10**9))
        sync_api.expect(ages).to_have_text([re.compile("^([7-9]|1[0-9])$"), ""])

    await stage.look(heard)


async def test_names_are_shown_as_text_whatever_they_hold(stage: Stage) -> None:
    stage.picture.observe(changed("<img src=x onerror=document.title='taken'>", group="<b>bold</b>"))

    def harmless(page: Any) -> str:
        page.wait_for_selector("#members tr")
        assert page.locator("#members img, #groups b").count() == 0
        return str(page.title())

    assert await stage.look(harmless) == "kip848-proxy"
