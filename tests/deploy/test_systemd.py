"""The unit, as systemd reads it, where systemd is."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from proxy.cli import BAD_SETTINGS, _parser
from proxy.server import TRACES_SECONDS
from proxy.settings import Limits
from tests.deploy.manifests import DEPLOY, ROOT

UNIT = DEPLOY / "kip848-proxy.service"
needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze reads the unit")
# In tenths: systemd calls up to 2.0 "OK", and a unit without any hardening has 9.6.
MOST_EXPOSED = 20


def said(key: str) -> str:
    found = re.search(rf"^{key}=(.*)$", UNIT.read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


@needs_systemd
def test_systemd_has_nothing_to_say_against_it(tmp_path: Path) -> None:
    """But that nothing is installed here: the command is exchanged for one that there is."""
    command = said("ExecStart").split()[0]
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace(command, sys.executable))
    # Variables that it can't place are warnings, not errors: so none may be printed about our file.
    checked = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert [line for line in checked.stderr.splitlines() if UNIT.name in line] == []
    assert checked.returncode == 0


@needs_systemd
def test_it_is_hardly_exposed(tmp_path: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", f"--threshold={MOST_EXPOSED}", "--no-pager", str(UNIT)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout[-300:]


def test_it_runs_the_command() -> None:
    program, *arguments = said("ExecStart").split()
    assert Path(program).name == "kip848-proxy"
    assert _parser().parse_args(arguments).command == "serve"


def test_it_is_started_again_for_ever_but_where_its_settings_are_wrong() -> None:
    before_service = UNIT.read_text().partition("[Service]")[0]
    assert "\nStartLimitIntervalSec=0\n" in before_service
    assert said("Restart") == "on-failure"
    assert said("RestartPreventExitStatus") == str(BAD_SETTINGS)


def test_traces_as_in_their_example_go_where_it_may_write() -> None:
    example = re.search(r"^```toml\n(.*?)```", (ROOT / "docs/traces.md").read_text(), re.MULTILINE | re.DOTALL)
    assert example is not None
    file = Path(tomllib.loads(example[1])["traces"]["file"])
    assert file.parent == Path("/var/log") / said("LogsDirectory")


def test_it_is_given_the_time_to_drain() -> None:
    assert int(said("TimeoutStopSec")) > Limits().drain_timeout_ms / 1000 + TRACES_SECONDS


def test_each_connection_of_a_client_and_its_broker_have_descriptors() -> None:
    assert int(said("LimitNOFILE")) > 2 * Limits().max_connections
