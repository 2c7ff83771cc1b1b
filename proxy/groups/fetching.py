"""OffsetFetch from version 9 on, where a group may be asked about in a member's name.

A native member says its epoch with it, and is refused where that is stale. A classic client (franz-go) says its
generation: the epoch that it was told, which the coordinator may have left behind since without a word to anybody. So of
members that are translated nothing is said of who asks, as by clients that cannot say it; it is their principal that may
read the group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from proxy.groups import classic
from proxy.groups.classic import Request
from proxy.groups.line import Key, Line

NOBODY: dict[str, Any] = {"member_id": None, "member_epoch": -1}


def taken(line: Line, request: Request, is_translated: Callable[[Key], bool]) -> None:
    groups = [
        msgspec.structs.replace(group, **NOBODY) if is_translated((group.group_id, group.member_id)) else group
        for group in request.body.groups
    ]
    line.forward(classic.changed(request, groups=groups).frame)
