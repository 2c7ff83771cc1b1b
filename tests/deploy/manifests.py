"""What stands in deploy/, read as those read it for whom it is meant."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.configuration import load
from proxy.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"

Manifest = dict[str, Any]


def compose() -> Manifest:
    found: Manifest = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


def rendered(folder: str) -> dict[str, Manifest]:
    """By kind: there is one of each."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl renders the manifests")
    command = ["kubectl", "kustomize", str(KUBERNETES / folder)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {manifest["kind"]: manifest for manifest in yaml.safe_load_all(text)}


def settings_of(manifests: dict[str, Manifest], place: Path, **files: Path) -> Settings:
    """Of the ConfigMap, as the proxy itself reads and checks them; `files` exchanges paths that exist in the pod only."""
    text = manifests["ConfigMap"]["data"]["proxy.toml"]
    for name, path in files.items():
        text = text.replace(f"/etc/kip848-proxy-tls/tls.{name}", str(path))
    file = place / "proxy.toml"
    file.write_text(text)
    return load({}, {}, file).settings


def pod_of(manifests: dict[str, Manifest]) -> Manifest:
    pod: Manifest = manifests["Deployment"]["spec"]["template"]["spec"]
    return pod


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])
