"""`check` before clusters that work and that do not, and what the shell offers after Tab."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trio
import trustme

from demo.cluster import Cluster as EmbeddedCluster
from demo.cluster import Code, Cut, Fail, open_cluster
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.addresses import Directory
from proxy.cli import main
from proxy.groups.journal import Journal
from proxy.logs import Log
from proxy.settings import Settings
from proxy.tracing.otlp_file import OtlpFile
from proxy.visiting import ANSWER_SECONDS, visit_all
from tests.kafka import Cluster, Security
from tests.kafka.ports import free_ports
from tests.proxy.running import Running, room

SAFE_DOWNGRADE = 2

Findings = list[dict[str, Any]]


class Checked:
    """What `check` found, and its exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str], upstream: str, *arguments: str) -> None:
        admin = f"127.0.0.1:{free_ports(1)[0]}"
        # The later flag counts.
        listen = () if "--listen" in arguments else ("--listen", f"127.0.0.1:{room(5)}")
        self.code = main(["check", "--json", "--upstream", upstream, "--admin", admin, *listen, *arguments])
        self.findings: Findings = json.loads(capsys.readouterr().out)

    def about(self, about: str, level: str) -> Findings:
        return [finding for finding in self.findings if (finding["about"], finding["level"]) == (about, level)]

    def errors(self) -> list[str]:
        return [finding["about"] for finding in self.findings if finding["level"] == "error"]


@pytest.fixture
async def embedded() -> Any:
    async with open_cluster(nodes=3, topics={"orders": 2}) as cluster:
        yield cluster


async def checked(capsys: pytest.CaptureFixture[str], upstream: str, *arguments: str) -> Checked:
    return await trio.to_thread.run_sync(lambda: Checked(capsys, upstream, *arguments))


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


# --- settings and listeners ----------------------------------------------------------------------------------------


def test_a_wrong_setting_is_code_2_and_says_what_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    found = Checked(capsys, "kafka")
    assert found.code == 2
    assert found.about("settings", "error")[0]["remedy"] == "for example localhost:9092 or [::1]:9092"


def test_nobody_at_the_seed_is_code_1_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    found = Checked(capsys, f"127.0.0.1:{free_ports(1)[0]}")
    assert (found.code, found.errors()) == (1, ["cluster"])
    assert "Connection refused" in found.about("cluster", "error")[0]["said"]


def test_every_finding_that_is_not_ok_has_a_remedy(capsys: pytest.CaptureFixture[str], taken_port: int) -> None:
    found = Checked(capsys, f"127.0.0.1:{free_ports(1)[0]}", "--listen", f"127.0.0.1:{taken_port}")
    assert set(found.errors()) == {"listeners", "cluster"}
    assert all(finding["remedy"] for finding in found.findings if finding["level"] != "ok")


def test_for_people_the_remedy_stands_below_what_is_wrong(capsys: pytest.CaptureFixture[str], taken_port: int) -> None:
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    main(["check", "--upstream", nobody, "--listen", f"127.0.0.1:{taken_port}", "--admin", "none"])
    lines = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("error    listeners"))
    assert f"127.0.0.1:{taken_port}" in lines[at]
    assert "→ the port is in use" in lines[at + 1]


def test_the_admin_port_has_the_remedy_of_any_other(capsys: pytest.CaptureFixture[str], taken_port: int) -> None:
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    (found,) = Checked(capsys, nobody, "--admin", f"127.0.0.1:{taken_port}").about("listeners", "error")
    assert found["said"] == f"cannot listen on 127.0.0.1:{taken_port} for the admin pages"
    assert found["remedy"].startswith("the port is in use: stop what listens there or choose another in `admin`")


# --- what it reads and writes --------------------------------------------------------------------------------------


async def with_settings(
    capsys: pytest.CaptureFixture[str], cluster: EmbeddedCluster, folder: Path, *lines: str
) -> Checked:
    (folder / "proxy.toml").write_text("\n".join(lines))
    return await checked(capsys, cluster.bootstrap, "--config", str(folder / "proxy.toml"))


@pytest.mark.parametrize(
    ("about", "table", "name"), [("journal", "translation", "journal"), ("traces", "traces", "file")]
)
async def test_where_the_proxy_could_not_write_is_code_1(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str], tmp_path: Path, about: str, table: str, name: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "file" / "below")
    for hindered in (tmp_path, tmp_path / "file" / "below", Path("/proc/self/status/below"), tmp_path / "link"):
        found = await with_settings(capsys, embedded, tmp_path, f"[{table}]", f'{name} = "{hindered}"')
        assert (found.code, found.errors()) == (1, [about])
        assert f"{table}.{name}: {hindered} cannot be written: " in found.about(about, "error")[0]["said"]


AS_A_PROXY_WRITES_IT = '{"group":"g","member":"m"}\n'


async def test_files_that_can_be_written_are_only_looked_at(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    journal, traces = tmp_path / "journal", tmp_path / "new" / "folder" / "traces.json"
    journal.write_text(AS_A_PROXY_WRITES_IT)
    lines = ("[translation]", f'journal = "{journal}"', "[traces]", f'file = "{traces}"')
    found = await with_settings(capsys, embedded, tmp_path, *lines)
    assert (found.code, len(found.about("journal", "ok")), len(found.about("traces", "ok"))) == (0, 1, 1)
    assert journal.read_text() == AS_A_PROXY_WRITES_IT
    assert {*os.listdir(tmp_path)} == {"journal", "proxy.toml"}


async def test_a_journal_that_another_proxy_writes_is_found(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = ("[translation]", f'journal = "{tmp_path}/journal"')
    journal = Journal(tmp_path / "journal", Log(out=io.StringIO()))
    found = await with_settings(capsys, embedded, tmp_path, *lines)
    assert (found.code, found.errors()) == (1, ["journal"])
    assert found.about("journal", "error")[0]["said"].endswith("/journal is written by another proxy that is running")
    journal.close()
    assert (await with_settings(capsys, embedded, tmp_path, *lines)).code == 0


async def test_traces_that_another_proxy_writes_are_found(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = ("[traces]", f'file = "{tmp_path}/traces"')
    traces = OtlpFile(f"{tmp_path}/traces", 1_000, 2)
    found = await with_settings(capsys, embedded, tmp_path, *lines)
    assert (found.code, found.errors()) == (1, ["traces"])
    assert found.about("traces", "error")[0]["said"].endswith("/traces is written by another proxy that is running")
    traces.shutdown()
    assert (await with_settings(capsys, embedded, tmp_path, *lines)).code == 0


async def test_a_journal_that_is_none_is_not_called_one(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As the proxy says that starts with it."""
    notes = tmp_path / "notes: mine"
    notes.write_text("milk, eggs\n")
    found = await with_settings(capsys, embedded, tmp_path, "[translation]", f'journal = "{notes}"')
    (error,) = found.about("journal", "error")
    assert error["said"] == f"{notes} (`journal`) is no journal, and would be overwritten"
    assert error["remedy"] == "name another file, or remove it"


@pytest.mark.parametrize(
    ("descriptors", "level", "said"),
    [
        (100, "error", "this process may have 100 descriptors, of which 256 are for its own needs"),
        (300, "warning", "limits.max_connections = 10000: there are descriptors for 22 connections"),
    ],
)
def test_descriptors_are_counted_as_at_start(descriptors: int, level: str, said: str) -> None:
    command = f"ulimit -n {descriptors} && exec {sys.executable} -m proxy check --json --upstream 127.0.0.1:1"
    done = subprocess.run(["bash", "-c", command], check=False, capture_output=True, text=True)
    (found,) = (each for each in json.loads(done.stdout) if each["about"] == "limits")
    assert (found["level"], found["said"]) == (level, said)
    assert found["remedy"].startswith("LimitNOFILE of the unit, or ulimit -n, at 20256")


async def test_beside_the_proxy_that_runs_by_these_settings_nothing_of_its_own_is_an_error(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text(f'[translation]\njournal = "{tmp_path}/journal"\n[traces]\nfile = "{tmp_path}/traces"\n')
    with Running(embedded.bootstrap, "--config", str(config)) as proxy:
        await trio.to_thread.run_sync(proxy.ready)
        where = ("--listen", proxy.bootstrap, "--admin", f"127.0.0.1:{proxy.admin}", "--config", str(config))
        found = await checked(capsys, embedded.bootstrap, *where)
    assert (found.code, found.errors()) == (0, [])
    assert len(found.about("journal", "warning")) == len(found.about("traces", "warning")) == 1
    said = [finding["said"] for finding in found.about("listeners", "warning")]
    ports = [proxy.admin, proxy.base, *map(proxy.port_of, (1, 2, 3))]
    assert [line.partition(" ")[0] for line in said] == [f"127.0.0.1:{port}" for port in ports]
    assert "is in use, and a proxy answers on the admin port: as it should be, if these are its settings" in said[0]


@pytest.mark.parametrize("protocol", ["http", "grpc"])
async def test_a_collector_needs_the_extra(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str], tmp_path: Path, protocol: str
) -> None:
    lines = ("[traces]", 'otlp_endpoint = "http://127.0.0.1:4318"', f'otlp_protocol = "{protocol}"')
    found = await with_settings(capsys, embedded, tmp_path, *lines)
    assert (found.code, found.errors()) == (0, [])
    with pytest.MonkeyPatch.context() as without:
        # As if it were not installed.
        without.setitem(sys.modules, f"opentelemetry.exporter.otlp.proto.{protocol}.trace_exporter", None)
        without.delattr(f"opentelemetry.exporter.otlp.proto.{protocol}.trace_exporter", raising=False)
        found = await with_settings(capsys, embedded, tmp_path, *lines)
    assert (found.code, found.errors()) == (1, ["traces"])
    assert "install kip848-proxy[otlp]" in found.about("traces", "error")[0]["said"]


@pytest.mark.parametrize(("days", "level", "code"), [(-1, "error", 1), (3, "warning", 0), (30, "ok", 0)])
async def test_how_long_a_certificate_lasts_is_looked_at(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str], tmp_path: Path, days: int, level: str, code: int
) -> None:
    end = datetime.now(UTC) + timedelta(days=days)
    issued = trustme.CA().issue_cert("localhost", not_before=end - timedelta(days=90), not_after=end)
    issued.private_key_and_cert_chain_pem.write_to_path(str(pem := tmp_path / "proxy.pem"))
    lines = ("[client_tls]", f'certificate_file = "{pem}"', f'private_key_file = "{pem}"')
    found = await with_settings(capsys, embedded, tmp_path, *lines)
    assert found.code == code
    (finding,) = found.about("tls", level)
    assert f"{end:%Y-%m-%d %H:%M} UTC" in finding["said"]
    assert (finding["remedy"] is None) == (level == "ok")


# --- the cluster ---------------------------------------------------------------------------------------------------


async def test_a_cluster_that_serves_is_code_0(embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str]) -> None:
    found = await checked(capsys, embedded.bootstrap)
    assert (found.code, found.errors()) == (0, [])
    assert len(found.about("cluster", "ok")) == 3


async def test_brokers_that_no_seed_names_are_visited_and_get_listeners(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await checked(capsys, embedded.nodes[1].address)
    assert len(found.about("cluster", "ok")) == 3
    assert len([each for each in found.about("listeners", "ok") if "(node " in each["said"]]) == 3


async def test_a_listener_that_another_of_ours_has_taken_is_found(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    base = room(5)
    clash = ("--listen", f"127.0.0.1:{base}", "--admin", f"127.0.0.1:{base + 3}")
    found = await checked(capsys, embedded.bootstrap, *clash)
    assert (found.code, found.errors()) == (1, ["listeners"])
    assert "the listener of node 2" in found.about("listeners", "error")[0]["said"]


async def test_seeds_that_do_not_answer_are_waited_for_together(autojump_clock: trio.testing.MockClock) -> None:
    with contextlib.ExitStack() as silent:
        sockets = [silent.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(4)]
        settings = Settings(upstream=tuple("{}:{}".format(*each.getsockname()) for each in sockets))
        visits = await visit_all(settings, Directory(settings))
    assert [str(address) for address in visits] == list(settings.upstream)
    assert trio.current_time() == ANSWER_SECONDS


async def test_one_seed_that_answers_is_enough(embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str]) -> None:
    found = await checked(capsys, f"127.0.0.1:{free_ports(1)[0]},{embedded.nodes[1].address}")
    assert found.code == 0
    assert len(found.about("cluster", "warning")) == 1


async def test_a_broker_that_clients_are_sent_to_must_answer(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    embedded.faults.add("ApiVersions", Cut(), node=2)
    found = await checked(capsys, embedded.nodes[1].address)
    assert (found.code, found.errors()) == (1, ["cluster"])
    assert found.about("cluster", "error")[0]["said"].startswith("node 2 at ")


async def test_a_broker_that_refuses_the_heartbeat_is_found_though_it_offers_it(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    embedded.faults.add("ConsumerGroupHeartbeat", Fail(Code.UNSUPPORTED_VERSION), node=3)
    found = await checked(capsys, embedded.bootstrap)
    assert (found.code, found.errors()) == (1, ["kip-848"])
    assert embedded.nodes[3].address in found.about("kip-848", "error")[0]["said"]


async def test_a_broker_that_refuses_the_question_is_none_that_answers(
    embedded: EmbeddedCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    embedded.faults.add("ApiVersions", Fail(Code.UNSUPPORTED_VERSION))
    found = await checked(capsys, embedded.nodes[1].address)
    assert (found.code, found.errors()) == (1, ["cluster"])
    assert "ApiVersions" in found.about("cluster", "error")[0]["said"]


async def test_something_else_than_a_broker_is_no_broker(
    capsys: pytest.CaptureFixture[str], nursery: trio.Nursery
) -> None:
    async def greet(stream: trio.SocketStream) -> None:
        await stream.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(trio.serve_listeners, greet, listeners)
    found = await checked(capsys, f"127.0.0.1:{listeners[0].socket.getsockname()[1]}")
    assert (found.code, found.errors()) == (1, ["cluster"])
    assert "is this a Kafka broker" in found.about("cluster", "error")[0]["said"]


async def test_tls_to_a_plaintext_broker_asks_whether_it_speaks_plaintext(
    capsys: pytest.CaptureFixture[str], nursery: trio.Nursery, tmp_path: Path
) -> None:
    async def hang_up(stream: trio.SocketStream) -> None:
        # As a broker does with what it takes for a frame that is too large.
        await stream.receive_some()

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(trio.serve_listeners, hang_up, listeners)
    (tmp_path / "proxy.toml").write_text("[upstream_tls]\nverify_hostname = false\n")
    upstream = f"127.0.0.1:{listeners[0].socket.getsockname()[1]}"
    found = await checked(capsys, upstream, "--config", str(tmp_path / "proxy.toml"))
    (finding,) = found.about("cluster", "error")
    assert finding["said"].endswith("cannot be asked: proxy ⇄ brokers (upstream_tls): the peer hung up")
    assert finding["remedy"].startswith("does the listener speak plaintext?")


@pytest.mark.broker
def test_a_real_cluster_is_fit_as_it_comes(kafka: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    found = Checked(capsys, kafka.bootstrap)
    assert (found.code, found.errors()) == (0, [])
    assert "group.version is 1" in found.about("kip-848", "ok")[0]["said"]
    assert "Fetch from version 4" in found.about("versions", "ok")[0]["said"]
    assert found.about("sessions", "ok")[0]["said"].endswith("sessions of 6000 to 1800000 ms, and so does the proxy")


@pytest.mark.broker
def test_bounds_of_sessions_that_are_not_the_brokers_are_named_with_what_to_write(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Cluster.start(overrides={"group.max.session.timeout.ms": "3600000"}) as kafka:
        found = Checked(capsys, kafka.bootstrap)
        (finding,) = found.about("sessions", "warning")
        assert (found.code, finding["said"]) == (
            0,
            f"{kafka.bootstrap} takes clients with sessions of 6000 to 3600000 ms, the proxy those of 6000 to 1800000",
        )
        assert finding["remedy"] == "translation.min_session_ms = 6000, translation.max_session_ms = 3600000"


@pytest.mark.broker
def test_a_cluster_that_wants_credentials_is_judged_by_what_it_says_before(
    kafka_sasl: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Checked(capsys, kafka_sasl.bootstrap)
    assert (found.code, found.errors()) == (0, [])
    assert "authenticated clients only" in found.about("access", "ok")[0]["said"]
    assert found.about("sessions", "ok") == []


@pytest.mark.broker
def test_plaintext_to_a_tls_listener_names_the_setting(kafka_tls: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    found = Checked(capsys, kafka_tls.bootstrap)
    assert (found.code, found.errors()) == (1, ["cluster"])
    assert "upstream_tls" in found.about("cluster", "error")[0]["remedy"]


@pytest.mark.broker
def test_tls_is_judged_by_the_authorities_of_upstream_tls(
    kafka_tls: Cluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert kafka_tls.certificates is not None
    config = tmp_path / "proxy.toml"
    config.write_text(f'[upstream_tls]\nca_file = "{kafka_tls.certificates.authority}"\n')
    found = Checked(capsys, kafka_tls.bootstrap, "--config", str(config))
    assert (found.code, found.errors()) == (0, [])
    config.write_text("[upstream_tls]\nverify_hostname = true\n")
    distrustful = Checked(capsys, kafka_tls.bootstrap, "--config", str(config))
    assert distrustful.code == 1
    assert "certificate verify failed" in distrustful.about("cluster", "error")[0]["said"]


@pytest.mark.broker
def test_group_version_0_names_the_feature_to_upgrade(capsys: pytest.CaptureFixture[str]) -> None:
    with Cluster.start(security=Security(sasl=("PLAIN",))) as kafka:
        turned_off = m.UpdateFeaturesRequest(
            feature_updates=[
                m.UpdateFeaturesRequestFeatureUpdateKey(
                    feature="group.version", max_version_level=0, upgrade_type=SAFE_DOWNGRADE
                )
            ]
        )
        assert kafka.ask(1, keys.UPDATE_FEATURES, 1, turned_off).error_code == 0
        with_credentials = Checked(capsys, kafka.bootstrap)
        without = Checked(capsys, "{}:{}".format(*kafka.nodes[1].internal))
    for found in (with_credentials, without):
        assert (found.code, set(found.errors())) == (1, {"kip-848"})
        assert "group.version=1" in found.about("kip-848", "error")[0]["remedy"]


# --- completions ---------------------------------------------------------------------------------------------------


def offered(script: str, *words: str) -> list[str]:
    """What bash would offer for the last of these words."""
    line = " ".join(f"'{word}'" for word in words)
    ask = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _kip848_proxy; printf '%s\\n' ${{COMPREPLY[@]}}"
    said = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert said.stderr == ""
    return said.stdout.split()


@pytest.fixture
def bash(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completions", "bash"]) == 0
    return capsys.readouterr().out


def test_bash_offers_commands_options_and_values(bash: str, tmp_path: Path) -> None:
    assert offered(bash, "kip848-proxy", "s") == ["serve", "status"]
    assert offered(bash, "kip848-proxy", "check", "--js") == ["--json"]
    assert offered(bash, "kip848-proxy", "serve", "--log-level", "") == ["debug", "info", "warning", "error"]
    assert offered(bash, "kip848-proxy", "completions", "z") == ["zsh"]
    assert offered(bash, "kip848-proxy", "serve", "--upstream", "") == []
    assert offered(bash, "kip848-proxy", "serve", "--print-config", "--lis") == ["--listen"]
    (tmp_path / "proxy.toml").touch()
    assert offered(bash, "kip848-proxy", "serve", "--config", f"{tmp_path}/pro") == [f"{tmp_path}/proxy.toml"]


def test_zsh_takes_its_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completions", "zsh"]) == 0
    script = capsys.readouterr().out
    assert script.startswith("#compdef kip848-proxy\n")
    for command in ("serve", "check", "status", "report", "demo", "completions"):
        assert f"\n{command})\n" in script
    if zsh := shutil.which("zsh"):
        subprocess.run([zsh, "-n", "-c", script], check=True)
