"""Ask the store something that may hang, such as whether it can be written to."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from grbp.errors import GrbpError
from grbp.live.store.base import Store
from grbp.serve.discretion import hide_places

T = TypeVar("T")


class Watch(Generic[T]):
    """A question that a thread of its own answers, once for all who ask at the same time.

    So a store that hangs keeps one thread waiting, however often somebody asks.
    """

    def __init__(self, find: Callable[[], T]) -> None:
        self._find, self._thread = find, ThreadPoolExecutor(1)
        self._asked: asyncio.Future[T] | None = None

    async def ask(self, within: float) -> T:
        """Return the answer, or raise `TimeoutError` when it does not come within some seconds."""
        if self._asked is None or self._asked.done():
            loop = asyncio.get_running_loop()
            self._asked = loop.run_in_executor(self._thread, self._find)
        return await asyncio.wait_for(asyncio.shield(self._asked), within)


def find_problem(store: Store) -> str:
    """Say why studies cannot be written to, but not where they are; empty if they can be."""
    try:
        store.studies()
        problems = store.checks()
    except GrbpError as error:
        problems = [str(error)]
    return hide_places(problems[0], store) if problems else ""
