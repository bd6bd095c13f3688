"""The run as the servers share it: one command after the other, and a picture of it for everybody
who only looks.

After each command the office takes a picture of what a dispatcher may know; questions are answered
from the last one. What has happened is kept for the public database until the next query, which has
it told first. This module knows the world and no HTTP.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from tradesbench_gym.api.faults import closed
from tradesbench_gym.api.pictures import News, Picture, Watcher, story
from tradesbench_gym.api.public import PublicDatabase
from tradesbench_gym.world import World

T = TypeVar("T")


class Office:
    """A world that several servers speak to.

    Args:
        world: the run; the office is the only one to command it from now on, and closes it.

    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._watcher = Watcher(world.business)
        self._turn = threading.Lock()
        self._untold: list[News] = []
        self._stopping = False
        self.picture: Picture = self._watcher.look(world.simulation)
        """The run as it stands after the last command."""
        self.database = PublicDatabase(lambda: story(world))
        world.take_events()  # the story has told them
        self._told = world.commands

    def command(self, ask: Callable[[World, Picture], T]) -> tuple[T, Picture]:
        """Do something with the world while nobody else does; what came of it, and the run then.

        Raises:
            TradesBenchError: what the command raises; nothing has changed.

        """
        with self._turn:
            self._catch_up()
            said = ask(self._world, self.picture)
            self._catch_up()
            return said, self.picture

    def look(self, ask: Callable[[World, Picture], T]) -> T:
        """Look at the world itself while nobody commands it."""
        with self._turn:
            self._catch_up()
            return ask(self._world, self.picture)

    def query(self, sql: str) -> bytes:
        """Ask the public database; see `PublicDatabase.query`. From any thread.

        Raises:
            TradesBenchError: a question it does not answer.

        """
        if self._stopping:
            raise closed()
        with self._turn:
            self._catch_up()
            if self._untold:
                self.database.follow(self._untold)
                self._untold = []
        return self.database.query(sql)

    def _catch_up(self) -> None:
        """Take a picture of what was done since the last one.

        What fails here fails after the command is on disk; the next who comes tries again, so that
        the run goes on as soon as it can.
        """
        world, before = self._world, self._told
        if world.commands == before:
            return
        picture = self._watcher.look(world.simulation)
        news = News(before, world.commands, picture, world.take_events())
        last = self._untold[-1:]
        self._untold[-1:] = last[0].with_next(news) if last else [news]
        self.picture, self._told = picture, world.commands

    def stop(self) -> None:
        """Refuse queries from now on, those that wait for their turn too."""
        self._stopping = True

    def close(self) -> None:
        """Close the public database and the world, when the command that is being done is done."""
        with self._turn:
            self.database.close()
            self._world.close()
