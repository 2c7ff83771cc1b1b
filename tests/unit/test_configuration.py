"""Where settings come from, and how wrong ones are refused: with path, value and remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proxy.cli import main
from proxy.configuration import effective, load
from proxy.groups.journal import LOCK, NEW
from proxy.settings import BadSettings, UpstreamTls

UPSTREAM = {"upstream": "kafka:9092"}
# Such as are never read: the pattern is looked at before.
CLIENT_TLS = {"client_tls.certificate_file": "/nowhere", "client_tls.private_key_file": "/nowhere"}
MUTUAL_TLS = CLIENT_TLS | {"client_tls.client_ca_file": "/nowhere"}
IDENTITY = {"client": "CN=billing", "certificate_file": "/nowhere", "private_key_file": "/nowhere"}


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
        (
            {"upstream": "kafka://a:9092"},
            "'kafka://a:9092': not HOST:PORT; for example localhost:9092 or [::1]:9092; no scheme",
        ),
        ({"upstream": "a:1;b:2"}, "upstream = 'a:1;b:2': not HOST:PORT"),
        ({"upstream": "a:1 b:2"}, "no scheme, and a comma between several"),
        ({"upstream": "[kafka]:9092"}, "upstream = '[kafka]:9092': not HOST:PORT"),
        ({"advertise": "gw:9092"}, "advertise = 'gw:9092': it must be a host only"),
        ({"advertise": ""}, "advertise = '': it must be a host only"),
        ({"advertise": "0.0.0.0"}, "advertise = '0.0.0.0': clients can't be told to dial every address"),
        ({"advertise": "::"}, "advertise = '::': clients can't be told to dial every address"),
        *(
            ({"listen": f"{every}:9092"}, "clients can't be told to dial every address; set `advertise`")
            for every in ("0.0.0.0", "0", "0.0", "000.0.0.0", "0x0", "[::]", "[::ffff:0.0.0.0]")
        ),
        ({"admin": "127.0.0.1:9092"}, "admin = '127.0.0.1:9092': the port of `listen`"),
        (
            {"admin": "127.0.0.1:9091", "processes": 2},
            "admin = '127.0.0.1:9091': the port of `listen` (that of each of 2",
        ),
        ({"admin": "127.0.0.1:65534", "processes": 3}, "admin = '127.0.0.1:65534': there is no port so high (that of"),
        ({"admin": "127.0.0.1:9094", "nodes": "2", "processes": 2}, "ports.2 = 9095: already the port of admin"),
        ({"processes": 0}, "processes = 0 (flag): expected `int` >= 1"),
        ({"nodes": "0,x"}, "nodes[1] = "),
        ({"listen": "127.0.0.1:65000", "nodes": "900"}, "node 900 would listen on port 65901"),
        ({"ports": {"1": 9092}}, "ports.1 = 9092: already the port of listen"),
        ({"ports": {"one": 19000}}, "ports.one: not a node id"),
        ({"ports": {"1": 19000, "01": 19001}}, "ports.01: not a node id"),
        ({"ports": {"2147483648": 19000}}, "ports.2147483648: not a node id"),
        ({"nodes": "2147483648"}, "nodes[0] = '2147483648' (flag): expected `int` <= 2147483647"),
        ({"listen": "127.0.0.1:" + "9" * 5_000}, "not HOST:PORT"),
        *(({"advertise": odd}, f"advertise = {odd!r}: it must be a host only") for odd in ("a b", "http//x", "a,b")),
        (
            {"advertise": "none"},
            "advertise = 'none': clients would dial it; leave it out, and they are told the host of",
        ),
        ({"advertise": "256.256.256.256"}, "advertise = '256.256.256.256': it must be a host only"),
        ({"listen": "10.0.0.256:9092"}, "listen = '10.0.0.256:9092': not HOST:PORT"),
        *(({name: f"{'ü' * 63}:19000"}, f"{name} = 'üü") for name in ("upstream", "listen", "admin")),
        (
            {"limits.drain_timeout_ms": 10**22},
            "limits.drain_timeout_ms = 10000000000000000000000 (flag): expected `int`",
        ),
        (
            {"traces.export_interval_ms": 10**14},
            "traces.export_interval_ms = 100000000000000 (flag): expected `int` <=",
        ),
        ({"traces.queue_spans": 10**22}, "traces.queue_spans = 10000000000000000000000 (flag): expected `int`"),
        *(
            (
                {"traces.otlp_endpoint": odd},
                f"traces.otlp_endpoint = {odd!r}: not http://HOST:PORT or https://HOST:PORT",
            )
            for odd in ("http://[::1:4318", "collector:4318", "http://c:99999999", "http://", "")
        ),
        (
            {"traces.otlp_endpoint": "https://me:s3cret@collector:4318"},
            "traces.otlp_endpoint: it is shown and logged, so it may hold no user and password",
        ),
        *(
            ({"translation.journal": "/tty", "traces.file": f"//tty{beside}"}, f"'//tty{beside}': that is the journal")
            for beside in ("", LOCK, NEW)
        ),
        *(
            ({name: "/dev/null"}, f"{name} = '/dev/null': not a file")
            for name in ("translation.journal", "traces.file")
        ),
        *(
            ({name: folder}, f"{name} = {folder!r}: not a file; name one, in a folder that the proxy may write")
            for name in ("translation.journal", "traces.file")
            for folder in (".", "./", "/")
        ),
        ({"client_tls.certificate_file": "a\0b", "client_tls.private_key_file": "b"}, "= 'a\\x00b' (flag): not text"),
        ({"ports": {"1\0": 19000}}, "ports = '1\\x00' (flag): not text; write it in UTF-8, without NUL"),
        ({"limits.idle_timeout_ms": 0}, "limits.idle_timeout_ms = 0 (flag): expected `int` >= 1"),
        (
            {"limits.idle_timeout": 5},
            "limits.idle_timeout (flag): no such setting; did you mean limits.idle_timeout_ms?",
        ),
        ({"lisen": "127.0.0.1:1"}, "lisen (flag): no such setting; did you mean listen?"),
        ({"log.level": "loud"}, "log.level = 'loud' (flag): no such choice; choose debug, info, warning or error"),
        ({"log.format": "xml"}, "choose text or json"),
        ({"traces.otlp_protocol": "udp"}, "choose http or grpc"),
        ({"ports": {"1": 19000, "2": 70000}}, "ports.2 = 70000 (flag): expected `int` <= 65535"),
        ({"ports": {"1.5": "x"}}, "ports.1.5 = 'x' (flag): expected `int`"),
        ({"ports": "1=19000, 2:19001"}, "ports = '2:19001': not NODE=PORT; for example 1=19094,2=19095"),
        ({"limits_idle_timeout_ms": 5}, "no such setting; did you mean limits.idle_timeout_ms?"),
        ({"sni.broker_pattern": "broker-{node}.x"}, "sni: server names come with TLS; set client_tls"),
        *(
            ({"sni.broker_pattern": pattern} | CLIENT_TLS, f"sni.broker_pattern = {pattern!r}: it must be a host name")
            for pattern in ("broker.x", "b{node}-{zone}.x", "b{node}{", "b{node}{0}", "{node}.{node}", "b {node}.x")
        ),
        *(
            (
                {"sni.broker_pattern": "b-{node}.x", "sni.bootstrap_name": name} | CLIENT_TLS,
                f"sni.bootstrap_name = {name!r}: it must be a host name, without a port, and none of those",
            )
            for name in ("kafka.example:9093", " kafka.example", "", "B-17.x")
        ),
        (
            {"client_tls.certificate_file": "/nowhere", "client_tls.private_key_file": "/nowhere"},
            "/nowhere: No such file",
        ),
        (
            {"translation.min_session_ms": 10, "translation.max_session_ms": 9},
            "10: more than max_session_ms (9), so no client",
        ),
        ({"upstream_tls.certificate_file": "/x"}, "certificate_file and private_key_file go together"),
        ({"upstream_tls.identities": [IDENTITY]}, "are not asked for certificates: set `client_tls.client_ca_file`"),
        (
            {"upstream_tls.identities": [IDENTITY | {"client": "billing"}]} | MUTUAL_TLS,
            "upstream_tls.identities[0].client = 'billing': not a certificate's subject; write it as brokers do, for",
        ),
        (
            {"upstream_tls.identities": [IDENTITY, IDENTITY]} | MUTUAL_TLS,
            "upstream_tls.identities[1].client = 'CN=billing': there is one for this client above; keep one of them",
        ),
        (
            {"upstream_tls.identities": [{"client": "CN=billing", "certificate_file": "/x"}]} | MUTUAL_TLS,
            "upstream_tls.identities[0].private_key_file: it must be given in upstream_tls.identities[0]",
        ),
    ],
)
def test_what_is_wrong_is_refused_with_path_value_and_remedy(flags: dict[str, Any], said: str) -> None:
    with pytest.raises(BadSettings) as refused:
        given(flags)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('groups = [{patern = "x"}]', "groups[0].patern (FILE): no such setting; did you mean groups[0].pattern?"),
        (
            '[[groups]]\npattern = "x"\n[[groups]]\npattern = "y"\nmode = "skip"\n',
            "groups[1].mode = 'skip' (FILE): no such choice; choose translate, pass, refuse or dry-run",
        ),
        ('[[groups]]\npattern = "x"\nassignor = ""\n', "groups[0].assignor = '' (FILE): expected `str` of length >= 1"),
        ('[[groups]]\nmode = "pass"\n', "groups[0].pattern: it must be given"),
        ('[[groups]]\npattern = ""\n', "groups[0].pattern = '' (FILE): expected `str` of length >= 1"),
        ('[[groups]]\npattern = "a\\u0000"\n', "groups = 'a\\x00' (FILE): not text; write it in UTF-8, without NUL"),
        (
            '[limits]\nlisten = "x:1"\n',
            "limits.listen (FILE): no such setting; listen is a top-level setting: write it above",
        ),
        ("nodes = [0, -1]", "nodes[1] = -1 (FILE): expected `int` >= 0"),
        (f"spin_us = 0x{'f' * 5_000}", "spin_us = a very large number (FILE): expected `int`"),
        ("[client_tls]", "client_tls.certificate_file: it must be given"),
        ("[sni]", "sni.broker_pattern: it must be given"),
        ("[listn]", "listn (FILE): no such setting; did you mean listen?"),
    ],
)
def test_what_is_wrong_in_the_file_is_found_within_lists_and_tables(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(BadSettings) as refused:
        given(file=file)
    assert said.replace("FILE", str(file)) in str(refused.value)


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        (
            "LIMITS_IDLE_TIMEOUT_MS",
            "5",
            "(environment, KIP848_PROXY_LIMITS_IDLE_TIMEOUT_MS): no such setting; "
            "did you mean KIP848_PROXY_LIMITS__IDLE_TIMEOUT_MS?",
        ),
        (
            "LIMITS__IDLE_TIMEOUT_MS",
            "0",
            "limits.idle_timeout_ms = '0' (environment, KIP848_PROXY_LIMITS__IDLE_TIMEOUT_MS)",
        ),
        ("NODES", "0,x", "nodes[1] = 'x' (environment, KIP848_PROXY_NODES): expected `int`"),
        ("PORT", "9092", "did you mean KIP848_PROXY_PORTS?"),
        (
            "ADVERTISE",
            "\udcff",
            "advertise = '\\udcff' (environment, KIP848_PROXY_ADVERTISE): not text; write it in UTF-8",
        ),
    ],
)
def test_a_wrong_variable_is_named(variable: str, value: str, said: str) -> None:
    with pytest.raises(BadSettings) as refused:
        given(environment={f"KIP848_PROXY_{variable}": value})
    assert said in str(refused.value)


@pytest.mark.parametrize("service", ["KIP848_PROXY", "KIP848_PROXY_METRICS"])
def test_what_kubernetes_says_of_a_service_with_that_name_is_no_setting(service: str) -> None:
    said = {
        f"{service}_SERVICE_HOST": "10.0.0.1",
        f"{service}_SERVICE_PORT": "9090",
        f"{service}_SERVICE_PORT_WEB": "9090",
        f"{service}_PORT": "tcp://10.0.0.1:9090",
        f"{service}_PORT_9090_TCP": "tcp://10.0.0.1:9090",
        f"{service}_PORT_9090_TCP_PROTO": "tcp",
        f"{service}_PORT_9090_TCP_PORT": "9090",
        f"{service}_PORT_9090_TCP_ADDR": "10.0.0.1",
    }
    assert given(environment=said | {"KIP848_PROXY_LISTEN": "127.0.0.1:9"}).settings.listen == "127.0.0.1:9"
    for wrong in ("KIP848_PROXY_PORTZ", "KIP848_PROXY_METRICS"):
        with pytest.raises(BadSettings, match="no such setting"):
            given(environment=said | {wrong: "1"})


def test_an_empty_table_says_that_it_is_there(tmp_path: Path) -> None:
    file = written(tmp_path, "[upstream_tls]\n[limits]\n[log]\n")
    loaded = given(file=file)
    assert loaded.settings == given({"upstream_tls.verify_hostname": True}).settings
    assert "[upstream_tls]\n" in effective(loaded)
    overlaid = given({"limits.idle_timeout_ms": 9}, {"KIP848_PROXY_UPSTREAM_TLS__VERIFY_HOSTNAME": "false"}, file)
    assert overlaid.settings.limits.idle_timeout_ms == 9
    assert overlaid.settings.upstream_tls == UpstreamTls(verify_hostname=False)


@pytest.mark.parametrize(
    ("upstream", "listen"),
    [
        ("127.0.0.1:9092", "127.0.0.1:9092"),
        ("b:1,localhost:9092", "127.0.0.1:9092"),
        ("127.0.0.1:9092", "localhost:9092"),
        ("0.0.0.0:9092", "127.0.0.1:9092"),
        ("127.0.0.1:9092", "0.0.0.0:9092"),
        ("localhost:9092", "[::]:9092"),
        ("Gateway:9092", "gateway:9092"),
    ],
)
def test_the_proxy_is_not_its_own_upstream(upstream: str, listen: str) -> None:
    with pytest.raises(BadSettings, match="that is `listen`, the proxy itself; name the brokers"):
        given({"upstream": upstream, "listen": listen, "advertise": "gw"})
    # Who only asks the brokers need not care where a proxy would listen.
    load({"upstream": upstream, "listen": listen, "advertise": "gw"}, {}, None, listens=False)


@pytest.mark.parametrize(
    ("upstream", "listen"),
    [
        ("127.0.0.1:9093", "127.0.0.1:9092"),
        ("127.0.0.1:9092", "127.0.0.2:9092"),
        ("127.0.0.1:9092", "[::1]:9092"),
        ("127.0.0.1:9092", "[::]:9092"),
        ("kafka:9092", "0.0.0.0:9092"),
    ],
)
def test_a_broker_may_be_near_the_proxy(upstream: str, listen: str) -> None:
    given({"upstream": upstream, "listen": listen, "advertise": "fe80::1"})


def test_a_file_that_can_not_be_read_or_is_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"absent\.toml: No such file"):
        given(file=tmp_path / "absent.toml")
    with pytest.raises(BadSettings, match=r"proxy\.toml: not TOML"):
        given(file=written(tmp_path, "listen ="))
    with pytest.raises(BadSettings, match="limits is 5, not a table"):
        given({"limits.idle_timeout_ms": 3}, file=written(tmp_path, "limits = 5"))


@pytest.mark.parametrize(
    "text", [f"spin_us = {'9' * 5_000}", f"nodes = {'[' * 5_000}{']' * 5_000}"], ids=["digits", "nested"]
)
def test_a_file_beyond_what_python_reads_is_named_too(tmp_path: Path, text: str) -> None:
    """At SIGHUP it would be the end of a proxy that runs."""
    with pytest.raises(BadSettings, match=r"proxy\.toml: not TOML: "):
        given(file=written(tmp_path, text))


@pytest.mark.parametrize("none", ["none", ""])
@pytest.mark.parametrize("path", ["admin", "translation.journal", "traces.file"])
def test_what_may_be_none_can_be_said_to_be(tmp_path: Path, path: str, none: str) -> None:
    file = written(tmp_path, f'{path} = "127.0.0.1:1"')
    loaded = given(environment={f"KIP848_PROXY_{path.upper().replace('.', '__')}": none}, file=file)
    assert loaded.settings == given({"admin": "127.0.0.1:9090"} | {path: None}).settings
    assert load({}, {}, written(tmp_path, effective(loaded))).settings == loaded.settings


@pytest.mark.parametrize("beside", ["", LOCK, NEW])
def test_what_stands_beside_a_journal_stands_so_where_a_link_leads(tmp_path: Path, beside: str) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "volume" / "journal")
    with pytest.raises(BadSettings, match="that is the journal, or what stands beside it"):
        given({"translation.journal": f"{tmp_path}/link", "traces.file": f"{tmp_path}/volume/journal{beside}"})


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert given(file=written(tmp_path, '\ufeffadvertise = "gateway"\n')).settings.advertise == "gateway"


def test_what_is_effective_can_be_given_back(tmp_path: Path) -> None:
    loaded = given({"ports": {"7": 19500}, "nodes": "1,2", "limits.idle_timeout_ms": 77})
    text = effective(loaded)
    assert "idle_timeout_ms = 77  # flag" in text
    assert 'format = "text"  # default' in text
    again = load({}, {}, written(tmp_path, text))
    assert again.settings == loaded.settings


def test_every_kind_of_setting_can_be_given_back(tmp_path: Path) -> None:
    text = """
        upstream = ["kafka-1:9092", "[::1]:9093"]
        advertise = "fe80::1"
        admin = "none"
        nodes = [0, 1]
        [ports]
        7 = 19500
        [upstream_tls]
        [translation]
        hold_heartbeats = 0.5
        leave_on_exit = true
        journal = 'a \\ and a "'
        [[groups]]
        pattern = "orders-*"
        mode = "pass"
        [[groups]]
        pattern = "sums-\\u001b"
        assignor = "range"
    """
    loaded = load({}, {}, written(tmp_path, text))
    assert load({}, {}, written(tmp_path, effective(loaded))).settings == loaded.settings


def test_print_config_prints_and_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--upstream", "kafka:9092", "--print-config"]) == 0
    assert 'upstream = ["kafka:9092"]  # flag' in capsys.readouterr().out


def test_no_command_teaches_and_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "kip848-proxy serve --upstream kafka-1:9092,kafka-2:9092" in capsys.readouterr().out
