"""The manifests, rendered by kustomize, beside the settings that their proxy would have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import trustme
import yaml

from proxy.admin import health_pages
from proxy.cli import _parser
from proxy.configuration import ENVIRONMENT_PREFIX
from proxy.server import TRACES_SECONDS
from proxy.settings import Limits, Settings, Traces
from tests.deploy.manifests import DEPLOY, KUBERNETES, ROOT, Manifest, pod_of, port_of, rendered, settings_of

FOLDERS = ["gateway", "gateway-sni", "example"]
# The oldest with native sidecars that is not at its end, and the newest of which the validator has the schemas.
VERSIONS = ["1.30", "1.37"]
GATEWAYS = ["gateway", "gateway-sni"]


def settings(folder: str, manifests: dict[str, Manifest], place: Path) -> Settings:
    if folder != "gateway-sni":
        return settings_of(manifests, place)
    issued = trustme.CA().issue_cert("kafka.example", "*.kafka.example")
    issued.cert_chain_pems[0].write_to_path(place / "crt")
    issued.private_key_pem.write_to_path(place / "key")
    return settings_of(manifests, place, crt=place / "crt", key=place / "key")


def listening(found: Settings) -> dict[str, int]:
    """Port names and numbers, as the settings have them."""
    bootstrap = port_of(found.listen)
    return {"bootstrap": bootstrap} | {f"broker-{node}": bootstrap + 1 + node for node in found.nodes}


def the_proxy(manifests: dict[str, Manifest]) -> Manifest:
    pod = pod_of(manifests)
    images = [*pod.get("initContainers", []), *pod["containers"]]
    return next(container for container in images if container["image"].startswith("kip848-proxy:"))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_schemas_of_kubernetes_have_nothing_against_them(folder: str, version: str) -> None:
    kubernetes_validate = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    manifests = rendered(folder)
    for manifest in manifests.values():
        kubernetes_validate.validate(manifest, version, strict=True)
    manifests["Deployment"]["spec"]["template"]["spec"]["restart"] = "Always"
    with pytest.raises(kubernetes_validate.ValidationError, match="restart"):
        kubernetes_validate.validate(manifests["Deployment"], version, strict=True)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_arguments_are_the_commands_and_the_file_is_mounted_where_they_look(folder: str) -> None:
    container = the_proxy(rendered(folder))
    options = _parser().parse_args(container["args"])
    mounts = [Path(mount["mountPath"]) for mount in container["volumeMounts"]]
    assert options.command == "serve"
    assert options.config.parent in mounts


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_written_has_a_volume(folder: str, tmp_path: Path) -> None:
    manifests = rendered(folder)
    journal = settings(folder, manifests, tmp_path).translation.journal
    writable = [
        Path(mount["mountPath"]) for mount in the_proxy(manifests)["volumeMounts"] if not mount.get("readOnly", False)
    ]
    assert journal is not None
    assert writable == [Path(journal).parent]


def test_traces_need_the_room_that_the_manifests_say() -> None:
    mebibytes = Traces().file_max_bytes * Traces().file_count // 2**20
    files = [KUBERNETES / "gateway/deployment.yaml", KUBERNETES / "sidecar/sidecar.yaml", ROOT / "docs/traces.md"]
    assert [file for file in files if f"{mebibytes} MiB" not in file.read_text()] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_probes_ask_pages_that_there_are_on_the_admin_port(folder: str, tmp_path: Path) -> None:
    manifests = rendered(folder)
    container = the_proxy(manifests)
    admin = settings(folder, manifests, tmp_path).admin
    assert admin is not None
    assert not admin.startswith("127."), "the kubelet comes to the pod's address"
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    probes = [container[name]["httpGet"] for name in container if name.endswith("Probe")]
    assert probes
    for probe in probes:
        assert ports[probe["port"]] == port_of(admin)
        assert probe["path"] in health_pages(list, lambda: b"")


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_proxy_may_do_nothing_but_serve(folder: str) -> None:
    manifests = rendered(folder)
    security = pod_of(manifests).get("securityContext", {}) | the_proxy(manifests)["securityContext"]
    assert security["runAsNonRoot"]
    assert security["runAsUser"] > 0
    assert security["readOnlyRootFilesystem"]
    assert not security["allowPrivilegeEscalation"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}


@pytest.mark.parametrize("folder", GATEWAYS)
def test_each_listener_has_its_port_in_the_pod_and_in_the_service(folder: str, tmp_path: Path) -> None:
    manifests = rendered(folder)
    found = settings(folder, manifests, tmp_path)
    in_pod = {port["name"]: port["containerPort"] for port in the_proxy(manifests)["ports"] if port["name"] != "admin"}
    in_service = {port["targetPort"]: port["port"] for port in manifests["Service"]["spec"]["ports"]}
    assert in_pod == listening(found)
    if found.sni is None:
        assert in_service == in_pod
    else:
        assert in_service == {"bootstrap": found.sni.advertised_port}


def test_clients_are_told_to_dial_the_service(tmp_path: Path) -> None:
    manifests = rendered("gateway")
    name = manifests["Service"]["metadata"]
    assert settings_of(manifests, tmp_path).advertise == f"{name['name']}.{name['namespace']}.svc"


@pytest.mark.parametrize("folder", GATEWAYS)
def test_all_connections_of_a_client_reach_one_proxy(folder: str) -> None:
    assert rendered(folder)["Service"]["spec"]["sessionAffinity"] == "ClientIP"


@pytest.mark.parametrize("folder", GATEWAYS)
def test_no_variable_that_kubernetes_makes_of_a_service_is_taken_for_a_setting(folder: str) -> None:
    manifests = rendered(folder)
    variable = manifests["Service"]["metadata"]["name"].upper().replace("-", "_") + "_"
    assert not variable.startswith(ENVIRONMENT_PREFIX)
    assert pod_of(manifests)["enableServiceLinks"] is False


@pytest.mark.parametrize("folder", GATEWAYS)
def test_whatever_selects_selects_the_gateway_and_brokers_are_others(folder: str) -> None:
    manifests = rendered(folder)
    labels = manifests["Deployment"]["spec"]["template"]["metadata"]["labels"]
    policy = manifests["NetworkPolicy"]["spec"]
    assert manifests["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert manifests["Service"]["spec"]["selector"] == labels
    assert manifests["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert policy["podSelector"]["matchLabels"] == labels
    brokers = policy["egress"][-1]["to"][0]["podSelector"]["matchLabels"]
    assert brokers.items().isdisjoint(labels.items())


@pytest.mark.parametrize("folder", GATEWAYS)
def test_the_policy_lets_in_to_each_listener_and_out_to_the_brokers(folder: str, tmp_path: Path) -> None:
    manifests = rendered(folder)
    found = settings(folder, manifests, tmp_path)
    policy = manifests["NetworkPolicy"]["spec"]
    clients = policy["ingress"][0]["ports"][0]
    assert [clients["port"], clients.get("endPort", clients["port"])] == [
        min(listening(found).values()),
        max(listening(found).values()),
    ]
    assert found.admin is not None
    assert policy["ingress"][1]["ports"] == [{"protocol": "TCP", "port": port_of(found.admin)}]
    assert policy["egress"][-1]["ports"] == [{"protocol": "TCP", "port": port_of(found.upstream[0])}]


@pytest.mark.parametrize("folder", GATEWAYS)
def test_a_pod_is_given_the_time_to_drain(folder: str) -> None:
    manifests = rendered(folder)
    before = int(the_proxy(manifests)["lifecycle"]["preStop"]["exec"]["command"][1])
    assert (
        pod_of(manifests)["terminationGracePeriodSeconds"] > before + Limits().drain_timeout_ms / 1000 + TRACES_SECONDS
    )


def test_the_application_finds_its_sidecar_on_loopback_and_there_before_it(tmp_path: Path) -> None:
    manifests = rendered("example")
    application = pod_of(manifests)["containers"][0]
    assert application["env"][0]["value"] == settings_of(manifests, tmp_path).listen
    assert the_proxy(manifests)["restartPolicy"] == "Always", "that makes an init container a sidecar"
    assert the_proxy(manifests) in pod_of(manifests)["initContainers"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_job_that_the_alert_looks_for_finds_the_admin_port(folder: str, tmp_path: Path) -> None:
    text = (DEPLOY / "README.md").read_text().partition("```yaml\n")[2].partition("```")[0]
    (job,) = yaml.safe_load(text)["scrape_configs"]
    assert f'up{{job="{job["job_name"]}"}} == 0' in (DEPLOY / "prometheus/alerts.yml").read_text()
    (kept,) = job["relabel_configs"]
    manifests = rendered(folder)
    container = the_proxy(manifests)
    found = [
        port
        for port in container["ports"]
        if re.fullmatch(kept["regex"], f"{container['image']};{port['containerPort']}")
    ]
    assert [port["containerPort"] for port in found] == [port_of(settings(folder, manifests, tmp_path).admin or "")]
