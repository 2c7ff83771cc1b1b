"""What SIGHUP changes of the settings: the rules of groups, and what brokers are shown for which client. They are read again
from where they came, checked whole, and exchanged at once; what else differs by then waits for a restart, and is named.

A migration goes group by group, so a change of rules must not cost every other group a restart; nor every other client,
that one more is to have an identity.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from proxy.groups.host import Host
from proxy.groups.passing import Ruling
from proxy.logs import Log
from proxy.settings import BadSettings, GroupRule, Identity, Settings, UpstreamTls
from proxy.tls import BadCertificate, UpstreamSide

# What becomes of those who are there.
MEANT = {
    "translate": "who joins anew is translated; a member that passes is from its next JoinGroup on, once its group is native",
    "pass": "who joins anew passes; a member that is translated stays so until its client restarts",
    "dry-run": "who joins anew passes, with a word on what it would be; a member that is translated stays so until its "
    "client restarts",
    "refuse": "every JoinGroup is refused from now on; members go on until then",
}
MEANT_OF_ASSIGNOR = "each member asks for it from its next JoinGroup on; what most of them ask for counts"


def reload_settings(
    before: Settings, read_again: Callable[[], Settings], host: Host, side: UpstreamSide | None, log: Log
) -> Settings:
    """Returns the settings in force from now on."""
    try:
        read = read_again()
        after = _with_identities(before, read, side, log)
    except (BadSettings, BadCertificate) as error:
        log.error("settings not reloaded: all stays as it was", reason=str(error))
        return before
    if waiting := sorted(differing(plain(before), plain(read))):
        log.warning("settings that wait for a restart", settings=", ".join(waiting))
    return _with_rules(after, read, host, log)


def _with_identities(before: Settings, read: Settings, side: UpstreamSide | None, log: Log) -> Settings:
    if side is None or before.upstream_tls is None or read.upstream_tls is None:
        return before
    was, now = before.upstream_tls.identities, read.upstream_tls.identities
    if now == was:
        return before
    side.identify(now)
    log.info("settings reloaded: identities of clients", gone=_only_in(was, now), new=_only_in(now, was))
    return msgspec.structs.replace(before, upstream_tls=_with(before.upstream_tls, now))


def _with(upstream: UpstreamTls, identities: tuple[Identity, ...]) -> UpstreamTls:
    return msgspec.structs.replace(upstream, identities=identities)


def _only_in(these: Iterable[Identity], those: Collection[Identity]) -> str:
    return "; ".join(each.client for each in these if each not in those) or "none"


def _with_rules(before: Settings, read: Settings, host: Host, log: Log) -> Settings:
    if read.groups == before.groups:
        log.info("settings reloaded: the rules of groups are what they were")
        return before
    ruled_otherwise = host.rule_anew(read.groups)
    log.info("settings reloaded: the rules of groups", before=in_words(before.groups), after=in_words(read.groups))
    for group_id, (was, now) in ruled_otherwise.items():
        log.info(
            "group ruled otherwise", group=group_id, before=ruling(was), after=ruling(now), meaning=_meaning(was, now)
        )
    return msgspec.structs.replace(before, groups=read.groups)


def plain(settings: Settings) -> dict[str, Any]:
    """All but what is exchanged."""
    upstream = settings.upstream_tls and _with(settings.upstream_tls, ())
    found: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(settings, groups=(), upstream_tls=upstream))
    return found


def differing(one: Mapping[str, Any], other: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """By path; a table that only one of them has as a whole."""
    for name in one.keys() | other.keys():
        mine, theirs = one.get(name), other.get(name)
        if isinstance(mine, dict) and isinstance(theirs, dict):
            yield from differing(mine, theirs, f"{prefix}{name}.")
        elif mine != theirs:
            yield f"{prefix}{name}"


def in_words(rules: Iterable[GroupRule]) -> str:
    said = [f"{rule.pattern}: {rule.mode}{_by(rule.assignor)}" for rule in rules]
    return "; ".join(said) or "none"


def ruling(found: Ruling) -> str:
    return f"{found.mode}{_by(found.rules.assignor)}"


def _by(assignor: str | None) -> str:
    return f" by {assignor}" if assignor else ""


def _meaning(was: Ruling, now: Ruling) -> str:
    return MEANT_OF_ASSIGNOR if (was.mode, now.mode) == ("translate", "translate") else MEANT[now.mode]
