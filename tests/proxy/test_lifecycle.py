"""Starting, draining, and clusters that are not there: what an operator sees."""

from __future__ import annotations

import contextlib
import fcntl
import json
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from pathlib import Path
from struct import pack

import pytest

from kafka_protocol import messages as m
from kafka_protocol.frames import encode_request
from kafka_protocol.messages import keys
from proxy.descriptors import OTHERS
from tests.kafka import Cluster
from tests.kafka.certificates import Certificates
from tests.kafka.ports import free_ports
from tests.kafka.wire import exchange, read_frame
from tests.proxy.running import START_SECONDS, Running, room
from tests.unit.test_tls import hello_to

# In three of four its last milliseconds are met.
STOPS = 8
# On a busy machine one of them alone may not have its turn within those.
ASKERS = 4


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "proxy", "serve", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_port_in_use_is_named_with_its_owner_and_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("--upstream", "127.0.0.1:1", "--listen", f"127.0.0.1:{port}", "--admin", "none")
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port} for the bootstrap listener: the port is in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_admin_port_in_use_is_named_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(
            "--upstream", "127.0.0.1:1", "--listen", f"127.0.0.1:{free_ports(1)[0]}", "--admin", f"127.0.0.1:{port}"
        )
    assert done.returncode == 1
    remedy = "the port is in use: stop what listens there or choose another in `admin`, or go without: --admin none"
    assert f"cannot listen on 127.0.0.1:{port} for the admin pages: {remedy}" in done.stderr


@pytest.mark.parametrize("setting", ["listen", "admin"])
def test_a_host_that_nobody_knows_is_named_with_the_remedy(setting: str) -> None:
    # The later flag counts.
    done = run("--upstream", "127.0.0.1:1", "--admin", "none", f"--{setting}", "no-host.invalid:1234")
    assert done.returncode == 1
    assert f"nobody knows this host: write an address of this machine in `{setting}`" in done.stderr
    assert "Traceback" not in done.stderr


def test_for_programs_the_reason_is_a_line_as_all_others() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run("--upstream", "127.0.0.1:1", "--listen", listen, "--admin", "none", "--log-format", "json")
    # Before it may be how many connections this machine has descriptors for.
    *_, said = map(json.loads, done.stderr.splitlines())
    assert (done.returncode, said["level"], said["event"]) == (1, "error", "cannot start")
    assert said["reason"].startswith(f"cannot listen on {listen} for the bootstrap listener: the port is in use")


@pytest.mark.parametrize("command", ["serve", "check"])
def test_a_variable_of_opentelemetrys_that_is_wrong_is_named(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "odd")
    with starting(command, "--upstream", "127.0.0.1:9") as started:
        said = started.communicate()[1]
    assert started.returncode == 2
    assert said.count("\n") == 1
    assert said.startswith(
        "kip848-proxy: OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT must be a non-negative integer but got odd (env"
    )


def test_wrong_settings_end_with_code_two_and_the_remedy() -> None:
    done = run("--upstream", "kafka")
    assert done.returncode == 2
    assert "upstream = 'kafka': not HOST:PORT; for example" in done.stderr


def test_who_has_read_enough_of_the_settings_hears_no_complaint() -> None:
    words = "-m proxy serve --upstream kafka:9092 --print-config"
    with subprocess.Popen([sys.executable, *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as printing:
        printing.stdout.close()
        assert printing.stderr.read() == b""


def test_without_a_standard_error_the_work_goes_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as upstream:
        upstream.settimeout(60)
        seed, listen = f"127.0.0.1:{upstream.getsockname()[1]}", f"127.0.0.1:{free_ports(1)[0]}"
        words = f"-m proxy serve --upstream {seed} --listen {listen} --admin none"
        with subprocess.Popen(["sh", "-c", f'exec "$0" {words} 2>&-', sys.executable]) as proxy:
            # It is hung up on, which it would log, and comes again.
            for _ in range(2):
                upstream.accept()[0].close()
            proxy.terminate()
        assert proxy.returncode == 0


def with_descriptors(count: int, processes: int = 1) -> subprocess.Popen[str]:
    words = f"-m proxy serve --upstream 127.0.0.1:1 --listen 127.0.0.1:{free_ports(1)[0]} --admin none"
    words += f" --processes {processes}"
    command = ["sh", "-c", f'ulimit -n {count}; exec "$0" {words}', sys.executable]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("processes", [1, 8])
@pytest.mark.parametrize("count", [12, OTHERS])
def test_with_hardly_any_descriptors_it_says_so_once_and_does_not_start(count: int, processes: int) -> None:
    with with_descriptors(count, processes) as proxy:
        _, said = proxy.communicate(timeout=60)
    assert proxy.returncode == 1
    assert said.startswith(f"kip848-proxy: this process may have {count} descriptors")
    assert said.count("\n") == 1


def test_an_unreachable_upstream_is_retried_with_a_clear_log_and_not_ready() -> None:
    nowhere = free_ports(1)[0]
    with Running(f"127.0.0.1:{nowhere}") as proxy:
        proxy.wait_for(lambda: "upstream unreachable, trying again" in proxy.log.read_text(), "it says so")
        assert f"127.0.0.1:{nowhere}: " in proxy.log.read_text()
        status, body = proxy.get("/readyz")
        assert status == 503
        assert json.loads(body)["missing"] == [f"no broker of 127.0.0.1:{nowhere} answers"]
        with proxy.connect() as sock:
            assert sock.recv(1) == b""
        proxy.count_one_more("broker_unreachable", 0)


@pytest.mark.parametrize("secured", ["", "[upstream_tls]\nverify_hostname = false\n"], ids=["plaintext", "tls"])
@pytest.mark.parametrize("dialled", ["127.0.0.1", "127.0.0.9", "[::1]"])
def test_a_broker_that_is_a_door_of_the_proxy_is_named_and_dialled_once(
    dialled: str, secured: str, tmp_path: Path
) -> None:
    """`upstream` names the proxy, or the cluster's answers do; by whatever name, the door being bound to all addresses."""
    config = tmp_path / "proxy.toml"
    config.write_text(f'advertise = "proxy.example"\n{secured}')
    base = room(6)
    door = f"{dialled}:{base + 3}"
    with Running(door, "--listen", f"[::]:{base}", "--node", "2", "--config", str(config), base=base) as proxy:
        # The scout goes the same way.
        proxy.wait_for(lambda: proxy.disconnects("dialled_itself") > 0, "the scout has met itself")
        assert proxy.missing() == [f"no broker of {door} answers"]
        with proxy.connect() as sock:
            assert sock.recv(1) == b""
        assert proxy.metric("connections_opened_total") == 1
    assert f"cause=dialled_itself client={dialled.replace('9', '1')}:" in proxy.log.read_text()
    assert f'node=2 detail="{door} is a door of this proxy, and it dialled that as a broker: ' in proxy.log.read_text()


def test_what_is_no_kafka_is_told_apart() -> None:
    """A TLS port, say: it hangs up or answers something that is no frame."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            # The test, and with it the socket, may end before the third comes.
            with contextlib.suppress(OSError):
                for _ in range(3):
                    peer, _ = server.accept()
                    peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    peer.close()

        threading.Thread(target=hang_up, daemon=True).start()
        with Running(f"127.0.0.1:{server.getsockname()[1]}") as proxy:
            proxy.wait_for(lambda: "is this a Kafka broker, and plaintext?" in proxy.log.read_text(), "it says so")


@pytest.fixture
def silent() -> Iterator[str]:
    """A broker that takes connections and never says anything: the kernel's queue."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_told_twice_to_stop_it_drains_no_longer_and_ends_in_order(silent: str, second: signal.Signals) -> None:
    with Running(silent) as proxy, proxy.connect() as waiting:
        frame = encode_request(keys.API_VERSIONS, 0, 1, "patient", m.ApiVersionsRequest())
        waiting.sendall(pack(">i", len(frame)) + frame)
        proxy.wait_for(lambda: proxy.metric("requests_total", api="ApiVersions") == 1, "its request is on its way")
        proxy.process.send(signal.SIGTERM)
        proxy.wait_for(lambda: "draining" in proxy.log.read_text(), "it drains")
        proxy.process.send(signal.SIGHUP)
        proxy.process.send(second)
        assert proxy.process.wait() == 0
    said = proxy.log.read_text()
    assert f"warning stopping at once signal={second.name} connections=1" in said
    assert said.rstrip().endswith("info stopped")


def test_what_the_log_held_back_last_is_said_before_the_end(silent: str) -> None:
    with Running(silent) as proxy, contextlib.ExitStack() as clients:
        for _ in range(60):
            clients.enter_context(proxy.connect())
        proxy.wait_for(lambda: proxy.metric("connections_open") == 60, "all are there")
        proxy.stop()
    ends = [line for line in proxy.log.read_text().splitlines() if "cause=drained" in line or "lines held back" in line]
    counted = sum(int(said[1]) for line in ends if (said := re.search(r"(?:lines|suppressed)=(\d+)", line)))
    assert counted + sum("cause=drained" in line for line in ends) == 60
    assert counted > 0


def test_sighup_says_what_it_reloads_and_what_waits_for_a_restart(silent: str, tmp_path: Path) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text("")
    with Running(silent, "--config", str(config)) as proxy:
        for settings, says in (
            ("", "info settings reloaded: the rules of groups are what they were"),
            (
                '[[groups]]\npattern = "sums"\nassignor = "range"\n'
                '[limits]\nidle_timeout_ms = 7_000\n[log]\nlevel = "error"\n',
                # A flag says the level, and wins.
                "warning settings that wait for a restart settings=limits.idle_timeout_ms\n"
                'info settings reloaded: the rules of groups before=none after="sums: translate by range"',
            ),
            ("limits = 3", f'error settings not reloaded: all stays as it was reason="limits = 3 ({config})'),
            ("[", f'error settings not reloaded: all stays as it was reason="{config}'),
            ("", 'info settings reloaded: the rules of groups before="sums: translate by range" after=none'),
        ):
            config.write_text(settings)
            proxy.process.send(signal.SIGHUP)
            for line in says.splitlines():
                proxy.wait_for(partial(_says, proxy.log, line), f"it says {line}")
        config.unlink()
        proxy.process.send(signal.SIGHUP)
        proxy.wait_for(
            lambda: proxy.log.read_text().count("not reloaded") == 3, "a file that is gone is one that is wrong"
        )
        proxy.stop()
        assert proxy.process.exit_code == 0


@contextlib.contextmanager
def starting(*words: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-m", "proxy", *words], stderr=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            started.kill()


def until_sighup(proxy: subprocess.Popen[str], *, held: bool) -> None:
    """Held back is the first thing that it is."""
    deadline = time.monotonic() + START_SECONDS
    while (mask_of(proxy) >> signal.SIGHUP - 1) & 1 != held:
        assert proxy.poll() is None
        assert time.monotonic() < deadline


def mask_of(process: subprocess.Popen[str]) -> int:
    return int(Path(f"/proc/{process.pid}/status").read_text().partition("SigBlk:")[2].split()[0], 16)


def test_a_reload_asked_for_while_it_starts_ends_nothing_and_is_not_lost(silent: str) -> None:
    listen = f"127.0.0.1:{free_ports(1)[0]}"
    with starting("serve", "--upstream", silent, "--admin", "none", "--listen", listen) as proxy:
        until_sighup(proxy, held=True)
        proxy.send_signal(signal.SIGHUP)
        until_sighup(proxy, held=False)
        proxy.terminate()
        assert "settings reloaded" in proxy.communicate()[1]
        assert proxy.returncode == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_what_was_held_back_from_who_started_it_is_heeded_all_the_same(silent: str, how: signal.Signals) -> None:
    listen = f"127.0.0.1:{free_ports(1)[0]}"
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {how})
    try:
        with starting("serve", "--upstream", silent, "--admin", "none", "--listen", listen) as proxy:
            until_sighup(proxy, held=True)
            until_sighup(proxy, held=False)
            proxy.send_signal(how)
            assert "stopped" in proxy.communicate(timeout=START_SECONDS)[1]
            assert proxy.returncode == 0
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_interrupted_while_it_starts_it_ends_without_a_word(silent: str) -> None:
    with starting("serve", "--upstream", silent) as proxy:
        until_sighup(proxy, held=True)
        proxy.send_signal(signal.SIGINT)
        assert proxy.communicate()[1] == ""
        assert proxy.returncode == 130


@pytest.mark.parametrize("command", ["check", "report --admin none"])
def test_interrupted_while_a_broker_is_waited_for_a_command_ends_without_a_word(command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        seed = f"127.0.0.1:{server.getsockname()[1]}"
        with starting(*command.split(), "--upstream", seed) as asking, server.accept()[0] as asked:
            asked.recv(1)
            asking.send_signal(signal.SIGINT)
            assert asking.communicate()[1] == ""
            assert asking.returncode == 130


def _says(log: Path, line: str) -> bool:
    return line in log.read_text()


def test_the_log_begins_with_what_serves(silent: str, tmp_path: Path) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text(f'[translation]\njournal = "{tmp_path}/journal"\n[traces]\nfile = "{tmp_path}/traces.json"\n')
    with Running(silent, "--config", str(config)) as proxy:
        (line,) = [line for line in proxy.log.read_text().splitlines() if " serving " in line]
    assert f"version={version('kip848-proxy')} upstream={silent} listen={proxy.bootstrap}" in line
    assert f"admin=127.0.0.1:{proxy.admin} journal={tmp_path}/journal traces={tmp_path}/traces.json" in line


def test_it_says_what_it_may_not_do_here_that_would_save_cpu(silent: str) -> None:
    said = "what many clients ask at a time is sent one by one, which costs more"
    with Running(silent) as proxy:
        assert said not in proxy.log.read_text()
    with Running(silent, program="tests.proxy.denied") as proxy:
        assert f'{said} reason="[Errno 1] io_setup: Operation not permitted"' in proxy.log.read_text()


def test_a_broker_that_hangs_within_the_handshake_is_one_that_gives_no_answer(silent: str, tmp_path: Path) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text("[upstream_tls]\nverify_hostname = false\n[limits]\nconnect_timeout_ms = 100\n")
    with Running(silent, "--config", str(config)) as proxy, proxy.connect() as sock:
        assert sock.recv(1) == b""
        detail = f'cause=broker_unreachable client={{}}:{{}} node=bootstrap detail="{silent}: no answer in time"'
        proxy.wait_for(lambda: detail.format(*sock.getsockname()) in proxy.log.read_text(), "it says so")


@pytest.fixture
def with_sni(tmp_path: Path) -> str:
    """The file of settings."""
    pem, config = Certificates().issue("proxy", "127.0.0.1"), tmp_path / "proxy.toml"
    config.write_text(
        f'[client_tls]\ncertificate_file = "{pem}"\nprivate_key_file = "{pem}"\n'
        '[sni]\nbroker_pattern = "broker-{node}.kafka"\nbootstrap_name = "kafka"\n'
    )
    return str(config)


def test_a_stranger_can_not_have_python_write_where_nobody_reads(silent: str, with_sni: str) -> None:
    """Python wrote of each such name by itself, and all clients waited for whoever reads the log."""
    listen = f"127.0.0.1:{free_ports(1)[0]}"
    with starting("serve", "--upstream", silent, "--admin", "none", "--listen", listen, "--config", with_sni) as proxy:
        assert proxy.stderr is not None
        fcntl.fcntl(proxy.stderr, fcntl.F_SETPIPE_SZ, 4096)
        while " serving " not in proxy.stderr.readline():
            assert proxy.poll() is None
        for _ in range(60):
            with socket.create_connection(("127.0.0.1", int(listen.rpartition(":")[2])), timeout=15) as stranger:
                stranger.sendall(hello_to(b"\xff" * 60))
                while stranger.recv(1_000):
                    pass
        proxy.terminate()
        assert "error raised to nobody of=" in proxy.communicate()[1]
        assert proxy.returncode == 0


def test_a_client_that_dials_an_address_where_names_tell_brokers_apart_is_told_so(silent: str, with_sni: str) -> None:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with Running(silent, "--config", with_sni) as proxy:
        for name, said in (
            (None, "the client sent no server name: it must dial a name"),
            ("x", "no broker is called 'x'"),
        ):
            with trusting.wrap_socket(proxy.connect(), server_hostname=name) as sock:
                assert sock.recv(1) == b""
            proxy.wait_for(lambda said=said: said in proxy.log.read_text(), "it says so")


@pytest.mark.broker
def test_sigterm_lets_what_was_asked_be_answered(kafka: Cluster) -> None:
    kafka.create_topic("drained")
    with Running(kafka.bootstrap) as proxy:
        proxy.ready()
        with proxy.connect(1) as waiting, proxy.connect(1) as idle:
            assert exchange(idle, 18, 0, m.ApiVersionsRequest()).error_code == 0
            # A Fetch that the broker holds for a second and a half, for there is nothing to read.
            partition = m.FetchRequestFetchPartition(partition=0, partition_max_bytes=1_000)
            topic = m.FetchRequestFetchTopic(topic="drained", partitions=[partition])
            held = m.FetchRequest(max_wait_ms=1_500, min_bytes=1, max_bytes=1_000, session_epoch=-1, topics=[topic])
            frame = encode_request(keys.FETCH, 11, 42, "patient", held)
            waiting.sendall(pack(">i", len(frame)) + frame)
            proxy.wait_for(lambda: proxy.metric("requests_total", api="Fetch") == 1, "the Fetch is on its way")
            stopping = threading.Thread(target=proxy.stop)
            stopping.start()
            assert idle.recv(1) == b""
            assert read_frame(waiting)[:4] == pack(">i", 42)
            assert waiting.recv(1) == b""
            stopping.join()
        assert proxy.process.exit_code == 0
        assert "stopped" in proxy.log.read_text()


@pytest.mark.broker
def test_a_client_that_hangs_up_its_half_still_gets_its_answers(kafka: Cluster) -> None:
    with Running(kafka.bootstrap) as proxy:
        proxy.ready()
        with proxy.connect(1) as sock:
            frame = encode_request(keys.METADATA, 1, 9, "hasty", m.MetadataRequest(topics=[]))
            sock.sendall(pack(">i", len(frame)) + frame)
            answered = read_frame(sock)
            assert answered[:4] == pack(">i", 9)
            sock.shutdown(socket.SHUT_WR)
            assert sock.recv(1) == b""
        proxy.wait_for(lambda: proxy.disconnects("client_closed") == 1, "it is the client that ended it")


def names_brokers(proxy: Running) -> bool:
    """By the bootstrap listener."""
    with proxy.connect() as sock:
        return bool(exchange(sock, keys.METADATA, 9, m.MetadataRequest(topics=[])).brokers)


@pytest.mark.broker
def test_a_broker_killed_and_restarted_is_found_again() -> None:
    with Cluster.start() as kafka, Running(kafka.bootstrap) as proxy:
        proxy.ready()
        with proxy.connect(1) as sock:
            assert exchange(sock, 18, 0, m.ApiVersionsRequest()).error_code == 0
            kafka.kill(1)
            assert sock.recv(1) == b""
        with pytest.raises(ConnectionRefusedError):
            proxy.connect(1)
        with ThreadPoolExecutor() as beside:
            started = beside.submit(kafka.start_node, 1)
            proxy.wait_for(partial(names_brokers, proxy), "the broker answers")
            # Whoever is told where it is may go there.
            proxy.connect(1).close()
            started.result()
        proxy.wait_for(lambda: proxy.metric("brokers_away") == 0, "the broker is back")
        with proxy.connect(1) as sock:
            assert exchange(sock, 18, 0, m.ApiVersionsRequest()).error_code == 0


def brokers_named(sock: socket.socket) -> Iterator[int]:
    """How many it names, again and again until it ends the connection."""
    with contextlib.suppress(ConnectionError):
        while True:
            yield len(exchange(sock, keys.METADATA, 9, m.MetadataRequest(topics=[])).brokers)


@pytest.mark.broker
def test_a_broker_that_stops_tells_no_client_that_there_are_no_brokers() -> None:
    """For some milliseconds a lone broker does, when it has left its cluster and still answers."""
    with Cluster.start() as kafka, Running(kafka.bootstrap) as proxy:
        proxy.ready()
        for _ in range(STOPS):
            with contextlib.ExitStack() as connected, ThreadPoolExecutor() as beside:
                socks = [connected.enter_context(proxy.connect(1)) for _ in range(ASKERS)]
                stopped = beside.submit(kafka.stop, 1)
                # It may end before it has answered once.
                for named in beside.map(lambda sock: list(brokers_named(sock)), socks):
                    assert 0 not in named
                stopped.result()
            if proxy.disconnects("no_brokers"):
                return
            kafka.start_node(1)
            proxy.wait_for(lambda: proxy.metric("brokers_away") == 0, "the broker is back")
    pytest.fail(f"in {STOPS} stops it was never asked within these milliseconds")
