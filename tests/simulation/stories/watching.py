"""What a story can look at behind the proxy: the phases and standings that a member went through, in order."""

from __future__ import annotations

from typing import Any

from simulation.story import Story
from simulation.world import GROUP
from translation.member import Member
from translation.states import Phase, Standing
from translation.transition import Transition


class Watch:
    def __init__(self, story: Story, proxy: str = "proxy") -> None:
        self.transitions: list[Transition] = []
        self._story, self._proxy = story, proxy
        story.world.proxies[proxy].on_transition = self.transitions.append

    def forgets(self) -> None:
        """What has been seen so far is of no more interest."""
        self.transitions.clear()

    def phases(self, member_id: str) -> list[Phase]:
        return _changes([(each.phase_before, each.phase) for each in self._of(member_id)])

    def standings(self, member_id: str) -> list[Standing]:
        return _changes([(each.standing_before, each.standing) for each in self._of(member_id)])

    def causes(self, member_id: str) -> list[str]:
        return [each.cause for each in self._of(member_id)]

    def member(self, member_id: str) -> Member:
        return self._story.world.proxies[self._proxy].members[GROUP, member_id]

    def _of(self, member_id: str) -> list[Transition]:
        return [each for each in self.transitions if each.member_id == member_id]


def _changes(moves: list[tuple[Any, Any]]) -> list[Any]:
    return [after for before, after in moves if after is not before]
