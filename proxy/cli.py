"""The command `kip848-proxy`. Exit codes: 0 all went well, 1 it could not do (or not start), 2 the settings are wrong,
130 interrupted (`__main__.py`)."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proxy.completions import SHELLS, completions
from proxy.configuration import ENVIRONMENT, effective, load
from proxy.settings import BadSettings, Settings
from proxy.status import status

DISTRIBUTION = "kip848-proxy"
CANNOT_START = 1
BAD_SETTINGS = 2

EXAMPLES = """\
examples:
  # a sidecar: the application connects to 127.0.0.1:9092 as if it were the cluster
  kip848-proxy serve --upstream kafka-1:9092,kafka-2:9092

  # a gateway: brokers 0 to 2 on ports 19093 to 19095 of this host
  kip848-proxy serve --upstream kafka:9092 --listen 0.0.0.0:19092 --advertise gateway.example --node 0 --node 1 --node 2

  # would it work here? settings, ports, brokers, KIP-848; what is wrong comes with its remedy
  kip848-proxy check --upstream kafka:9092

  # what would be used, and who said so
  kip848-proxy serve --config proxy.toml --print-config

Every setting can stand in the file (TOML), every one but `groups` in the environment too
(KIP848_PROXY_LIMITS__IDLE_TIMEOUT_MS); what is said most often is a flag of `serve` and `check`. Flags win over the
environment, the environment over the file. docs/settings.md lists them all.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    if sys.stderr is None:
        # Closed by who started us: there is nobody to tell, and nothing else may take its place.
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (as long as the process)
    try:
        code = _command(sys.argv[1:] if arguments is None else list(arguments))
        print(end="", flush=True)
    except BadSettings as error:
        print(f"{DISTRIBUTION}: {error}", file=sys.stderr)
        return BAD_SETTINGS
    except BrokenPipeError:
        # Who read has had enough (`… | head`). Python would flush once more at its end, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CANNOT_START
    return code


def _command(words: Sequence[str]) -> int:
    if words[:1] == ["demo"]:
        # It has options of its own.
        return _demo(words[1:])
    parser = _parser()
    options = parser.parse_args(words)
    match options.command:
        case "serve":
            return _serve(options)
        case "check":
            return _check(options)
        case "status":
            return _status(options)
        case "report":
            return _report(options)
        case "completions":
            print(completions(parser, options.shell), end="")
            return 0
        case _:
            parser.print_help()
            return BAD_SETTINGS


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=DISTRIBUTION,
        description="A proxy for Apache Kafka that legacy consumers connect to as if it were the cluster.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{DISTRIBUTION} {version(DISTRIBUTION)}")
    commands = parser.add_subparsers(dest="command", title="commands")
    settings, for_programs = _settings(), _for_programs()
    serve = commands.add_parser(
        "serve",
        parents=[settings],
        help="run the proxy",
        description="Stand in front of a Kafka cluster.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    serve.add_argument("--print-config", action="store_true", help="print what is effective and who said so, and stop")
    commands.add_parser(
        "check",
        parents=[settings, for_programs],
        help="would it work here? settings, ports, brokers, KIP-848",
        description="Look at the settings, the ports and the cluster, change nothing, and say what to do. "
        "Exit codes: 0 the proxy would work, 1 it would not, 2 the settings are wrong.",
    )
    _add_watching(commands, for_programs)
    shell = commands.add_parser("completions", help="what the shell offers after Tab; for bash: source it")
    shell.add_argument("shell", choices=SHELLS)
    return parser


def _settings() -> argparse.ArgumentParser:
    """Flags for the settings that are said most often."""
    flags = argparse.ArgumentParser(add_help=False)
    flags.add_argument(
        "--upstream", metavar="HOST:PORT[,…]", help="brokers to find the cluster by; one that answers is enough"
    )
    flags.add_argument(
        "--listen", metavar="HOST:PORT", help="what clients connect to (127.0.0.1:9092); node N is on port + 1 + N"
    )
    flags.add_argument(
        "--advertise", metavar="HOST", help="what clients are told to dial, where it is not the host of --listen"
    )
    flags.add_argument("--admin", metavar="HOST:PORT", help="health and metrics (127.0.0.1:9090), or none")
    flags.add_argument(
        "--node", metavar="N", action="append", dest="nodes", help="bind the listener of broker N at start; repeat"
    )
    flags.add_argument("--processes", metavar="N", help="so many share the ports, for more than one CPU (1)")
    flags.add_argument("--log-format", dest="log.format", metavar="text|json", help="lines to read, or to parse (text)")
    flags.add_argument(
        "--log-level", dest="log.level", metavar="debug|info|warning|error", help="the least that is said (info)"
    )
    flags.add_argument("--config", metavar="FILE.toml", type=Path, help="settings in TOML")
    return flags


def _for_programs() -> argparse.ArgumentParser:
    flags = argparse.ArgumentParser(add_help=False)
    flags.add_argument("--json", action="store_true", help="for programs")
    return flags


def _add_watching(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], for_programs: argparse.ArgumentParser
) -> None:
    watch = argparse.ArgumentParser(add_help=False, parents=[for_programs])
    watch.add_argument(
        "--admin",
        metavar="HOST:PORT",
        action="append",
        default=[],
        help="the admin port of the proxy (what the settings say, else 127.0.0.1:9090); of several: repeat",
    )
    watch.add_argument(
        "--config", metavar="FILE.toml", type=Path, help="the settings of the proxy, with its admin port"
    )
    shown = commands.add_parser(
        "status", parents=[watch], help="the members of a running proxy, live; or its connections"
    )
    shown.add_argument("--connections", action="store_true", help="who is connected, with what, and in which groups")
    shown.add_argument("--once", action="store_true", help="print once and stop, on a terminal too")
    reported = commands.add_parser(
        "report",
        parents=[watch],
        help="which groups need the proxy, here and in the whole cluster",
        description="What the proxy says of the groups it has seen and, where --upstream or --config say where it is, "
        "what the cluster says of all: which are legacy and do not come through this proxy, and which are native already.",
    )
    reported.add_argument("--upstream", metavar="HOST:PORT[,…]", help="ask this cluster too")
    commands.add_parser("demo", help="a rolling migration to watch; `demo --help` says more")


def _serve(options: argparse.Namespace) -> int:
    loaded = load(_flags(options), os.environ, options.config)
    if options.print_config:
        print(effective(loaded), end="")
        return 0
    return _run(loaded.settings, lambda: load(_flags(options), os.environ, options.config).settings)


def _run(settings: Settings, read_again: Callable[[], Settings]) -> int:
    # Only here, so that --help and --print-config stay quick.
    import trio

    from proxy.descriptors import TooFewDescriptors, take_descriptors, within
    from proxy.logs import Log, hear_python
    from proxy.patient_output import PatientOutput
    from proxy.processes import Parent, own

    with _opentelemetry_reads_its_variables():
        from proxy.server import CannotStart, serve
    from proxy.siblings import Siblings

    def new_log(number: int | None = None) -> Log:
        return Log(settings.log.level, settings.log.format, PatientOutput(sys.stderr), process=number)

    def cannot_start(log: Log, failure: Exception) -> int:
        if settings.log.format == "json":
            log.error("cannot start", reason=failure)
        else:
            print(f"{DISTRIBUTION}: {failure}", file=sys.stderr)
        return CANNOT_START

    def serve_one(settings: Settings, read_again: Callable[[], Settings], siblings: Siblings | None = None) -> int:
        log = new_log(siblings.number if siblings is not None else None)
        hear_python(log)
        try:
            trio.run(serve, settings, log, read_again, siblings)
        except CannotStart as failure:
            return cannot_start(log, failure)
        return 0

    if settings.processes == 1:
        return serve_one(settings, read_again)
    log = new_log()
    try:
        # Said once, and before they are to have something in common. Each says itself that it has few.
        within(settings.limits, take_descriptors(), Log("error"))
    except TooFewDescriptors as failure:
        return cannot_start(log, failure)
    parent = Parent(settings.processes, log)
    return parent.run(
        lambda number, siblings: serve_one(own(settings, number), lambda: own(read_again(), number), siblings)
    )


@contextmanager
def _opentelemetry_reads_its_variables() -> Iterator[None]:
    """Of its limits, when it is imported. It names the variable."""
    try:
        yield
    except ValueError as error:
        raise BadSettings(f"{error} ({ENVIRONMENT}); correct it there, or take it out") from error


def _check(options: argparse.Namespace) -> int:
    # Only here, so that --help stays quick.
    with _opentelemetry_reads_its_variables():
        from proxy.checking import check

    return check(_flags(options), options.config, as_json=options.json)


def _status(options: argparse.Namespace) -> int:
    how = {"connections": options.connections, "once": options.once, "as_json": options.json}
    return status(options.admin, options.config, **how)


def _report(options: argparse.Namespace) -> int:
    # Only here, so that --help stays quick.
    from proxy.report import report

    flags = {"upstream": options.upstream} if options.upstream is not None else {}
    return report(options.admin, flags, options.config, as_json=options.json)


def _demo(arguments: Sequence[str]) -> int:
    if find_spec("demo") is None:
        print(f"{DISTRIBUTION}: the demo is not installed here; run it from a source checkout", file=sys.stderr)
        return CANNOT_START
    code: int = import_module("demo.cli").main(arguments)
    return code


def _flags(options: argparse.Namespace) -> dict[str, Any]:
    ours = {"command", "config", "print_config", "json"}
    return {path: value for path, value in vars(options).items() if path not in ours and value is not None}
