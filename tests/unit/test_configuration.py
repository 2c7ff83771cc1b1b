"""Where settings come from, and how wrong ones are refused: with path, value and remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proxy.cli import main
from proxy.configuration import BadSettings, effective, load

UPSTREAM = {"upstream": "kafka:9092"}


def given(
    flags: dict[str, Any] | None = None, environment: dict[str, str] | None = None, file: Path | None = None
) -> Any:
    return load(UPSTREAM | (flags or {}), environment or {}, file)


def written(folder: Path, text: str) -> Path:
    file = folder / "proxy.toml"
    file.write_text(text)
    return file


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, 'listen = "127.0.0.1:1"\nadvertise = "from-file"\n[limits]\nidle_timeout_ms = 5\n')
    environment = {"KIP848_PROXY_LISTEN": "127.0.0.1:2", "KIP848_PROXY_LIMITS__IDLE_TIMEOUT_MS": "7", "OTHER": "x"}
    loaded = given({"listen": "127.0.0.1:3"}, environment, file)
    assert loaded.settings.listen == "127.0.0.1:3"
    assert loaded.settings.limits.idle_timeout_ms == 7
    assert loaded.settings.advertise == "from-file"
    assert loaded.origins["limits.idle_timeout_ms"] == "environment"
    assert loaded.origins["advertise"] == str(file)


def test_lists_and_tables_can_be_given_in_one_word() -> None:
    loaded = given({"upstream": "a:1, b:2", "admin": "none"}, {"KIP848_PROXY_PORTS": "1001=19500, 7=19501"})
    assert loaded.settings.upstream == ("a:1", "b:2")
    assert loaded.settings.admin is None
    assert loaded.settings.ports == {"1001": 19500, "7": 19501}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"upstream": ""}, "upstream: it must be given"),
        ({"upstream": "kafka"}, "upstream = 'kafka': not HOST:PORT; for example localhost:9092"),
        ({"upstream": "::1:9092"}, "write an IPv6 address in brackets: [::1]:9092"),
        ({"listen": ":9092"}, "listen = ':9092': the host is missing; for example 127.0.0.1:9092"),
        ({"listen": "127.0.0.1:99999"}, "listen = '127.0.0.1:99999': not HOST:PORT"),
        ({"listen": "0.0.0.0:9092"}, "clients can't be told to dial every address; set `advertise`"),
        ({"admin": "127.0.0.1:9092"}, "admin = '127.0.0.1:9092': the port of `listen`"),
        ({"nodes": "0,x"}, "nodes[1] = "),
        ({"listen": "127.0.0.1:65000", "nodes": "900"}, "node 900 would listen on port 65901"),
        ({"ports": {"1": 9092}}, "ports.1 = 9092: already the port of listen"),
        ({"ports": {"one": 19000}}, "ports.one: not a node id"),
        ({"limits.idle_timeout_ms": 0}, "limits.idle_timeout_ms = 0 (flag): expected `int` >= 1"),
        (
            {"limits.idle_timeout": 5},
            "limits.idle_timeout (flag): no such setting; did you mean limits.idle_timeout_ms?",
        ),
        ({"lisen": "127.0.0.1:1"}, "lisen (flag): no such setting; did you mean listen?"),
        ({"log.level": "loud"}, "log.level = 'loud' (flag)"),
        ({"sni.broker_pattern": "broker-{node}.x"}, "sni: server names come with TLS; set client_tls"),
        (
            {"client_tls.certificate_file": "/nowhere", "client_tls.private_key_file": "/nowhere"},
            "/nowhere: No such file",
        ),
        ({"upstream_tls.certificate_file": "/x"}, "certificate_file and private_key_file go together"),
    ],
)
def test_what_is_wrong_is_refused_with_path_value_and_remedy(flags: dict[str, Any], said: str) -> None:
    with pytest.raises(BadSettings) as refused:
        given(flags)
    assert said in str(refused.value)


def test_a_file_that_can_not_be_read_or_is_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"absent\.toml: No such file"):
        given(file=tmp_path / "absent.toml")
    with pytest.raises(BadSettings, match=r"proxy\.toml: not TOML"):
        given(file=written(tmp_path, "listen ="))
    with pytest.raises(BadSettings, match="limits is 5, not a table"):
        given({"limits.idle_timeout_ms": 3}, file=written(tmp_path, "limits = 5"))


def test_what_is_effective_can_be_given_back(tmp_path: Path) -> None:
    loaded = given({"ports": {"7": 19500}, "nodes": "1,2", "limits.idle_timeout_ms": 77})
    text = effective(loaded)
    assert "idle_timeout_ms = 77  # flag" in text
    assert 'format = "text"  # default' in text
    again = load({}, {}, written(tmp_path, text))
    assert again.settings == loaded.settings


def test_print_config_prints_and_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--upstream", "kafka:9092", "--print-config"]) == 0
    assert 'upstream = ["kafka:9092"]  # flag' in capsys.readouterr().out


def test_no_command_teaches_and_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "kip848-proxy serve --upstream kafka-1:9092,kafka-2:9092" in capsys.readouterr().out
