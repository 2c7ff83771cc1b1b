"""compose.yaml beside the settings, the image and the programs that it starts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from proxy.cli import _parser
from proxy.configuration import load
from proxy.server import TRACES_SECONDS
from proxy.settings import Settings
from tests.deploy.manifests import DEPLOY, ROOT, compose, port_of

PROGRAMS = ["producer", "old-consumer", "native-consumer"]


def proxy_settings() -> Settings:
    return load({}, compose()["services"]["proxy"]["environment"], None).settings


def test_the_proxy_takes_its_environment() -> None:
    assert _parser().parse_args(compose()["services"]["proxy"]["command"]).command == "serve"
    assert proxy_settings().advertise in compose()["services"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_there_and_are_told_all_they_ask_for(name: str) -> None:
    module, said = compose()["services"][name]["command"]
    source = (ROOT / (module.replace(".", "/") + ".py")).read_text()
    asked = set(re.findall(r'said\["(\w+)"\]', source))
    told = json.loads(said)
    assert asked
    assert asked <= told.keys()
    assert told["bootstrap"] == f"{proxy_settings().advertise}:{port_of(proxy_settings().listen)}"


def test_one_group_has_members_of_both_kinds() -> None:
    said = [json.loads(compose()["services"][name]["command"][1]) for name in PROGRAMS[1:]]
    assert {program["protocol"] for program in said} == {"classic", "consumer"}
    assert len({(program["group"], program["topic"]) for program in said}) == 1


def test_the_broker_is_where_the_proxy_looks_for_it() -> None:
    environment = compose()["services"]["kafka"]["environment"]
    assert environment["KAFKA_ADVERTISED_LISTENERS"] == f"PLAINTEXT://{proxy_settings().upstream[0]}"
    assert proxy_settings().nodes == (int(environment["KAFKA_NODE_ID"]),)


def test_traces_reach_the_collector() -> None:
    endpoint = urlsplit(proxy_settings().traces.otlp_endpoint or "")
    receivers = yaml.safe_load((DEPLOY / "compose/collector.yaml").read_text())["receivers"]["otlp"]["protocols"]
    assert endpoint.hostname in compose()["services"]
    assert endpoint.port == port_of(receivers[proxy_settings().traces.otlp_protocol]["endpoint"])


def test_prometheus_asks_the_admin_port() -> None:
    (job,) = yaml.safe_load((DEPLOY / "compose/prometheus.yaml").read_text())["scrape_configs"]
    assert f'up{{job="{job["job_name"]}"}} == 0' in (DEPLOY / "prometheus/alerts.yml").read_text()
    assert job["static_configs"][0]["targets"] == [f"proxy:{port_of(proxy_settings().admin or '')}"]


def test_what_is_mounted_is_there() -> None:
    mounts = [mount for service in compose()["services"].values() for mount in service.get("volumes", [])]
    files = [mount.split(":")[0] for mount in mounts if mount.startswith("./")]
    assert files
    assert [file for file in files if not (DEPLOY / file).exists()] == []


def test_nothing_is_reached_from_other_machines() -> None:
    ports = [port for service in compose()["services"].values() for port in service.get("ports", [])]
    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_the_proxy_is_given_the_time_to_drain() -> None:
    given = int(compose()["services"]["proxy"]["stop_grace_period"].removesuffix("s"))
    assert given > proxy_settings().limits.drain_timeout_ms / 1000 + TRACES_SECONDS


def test_the_proxy_writes_only_where_a_volume_is() -> None:
    service = compose()["services"]["proxy"]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    places = [Path(mount.split(":")[1]) for mount in service["volumes"]]
    assert places == [Path(proxy_settings().translation.journal or "").parent]
