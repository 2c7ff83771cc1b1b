"""The libraries that need the same tools, side by side: for most of a test they wait."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

import pytest
import trio

from tests.clients.libraries import LIBRARIES


def makes(among: Iterable[str] = LIBRARIES) -> pytest.MarkDecorator:
    """Parametrizes `libraries`, each set skipped where its tools are missing."""
    by_tools: dict[tuple[str, ...], list[str]] = {}
    for name in among:
        by_tools.setdefault(tuple(LIBRARIES[name].needs), []).append(name)
    sets = [
        pytest.param(names, id="+".join(names), marks=pytest.mark.skipif(bool(missing), reason=f"needs {missing}"))
        for names in by_tools.values()
        for missing in [LIBRARIES[names[0]].missing]
    ]
    return pytest.mark.parametrize("libraries", sets)


async def each(libraries: list[str], does: Callable[[str], Awaitable[None]]) -> None:
    async def one(library: str) -> None:
        try:
            await does(library)
        except Exception as failure:
            failure.add_note(f"this was {library}")
            raise

    async with trio.open_nursery() as nursery:
        for library in libraries:
            nursery.start_soon(one, library)
