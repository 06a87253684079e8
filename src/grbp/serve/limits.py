"""How much each caller may take of a server, so that nobody's share is everybody's.

Requests at once, bodies under way, streams and the rate of requests are counted by token, or by
address where there is none. Whoever has no token uses a part of the places only, and the last ones
are kept for admins: a full house still lets one in.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from grbp.live.endpoints import ADMIN
from grbp.serve.http_errors import Refusal
from grbp.serve.tokens import ANYBODY

_SHARES: Final = {ANYBODY: 0.2, ADMIN: 1.0}
"""Which part of all places a role may fill; roles between these fill nine tenths."""

_OTHERS: Final = 0.9


class RateLimiter:
    """How many requests each caller may still make: a bucket that fills up at a rate."""

    MOST: Final = 10_000

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, who: str) -> None:
        """Count a request of somebody, or refuse it."""
        now, full = self._clock(), max(1.0, 2.0 * self._rate)
        left, then = self._left.pop(who, (full, now))
        left = min(full, left + (now - then) * self._rate)
        enough = left >= 1.0
        self._left[who] = (left - 1.0 if enough else left), now
        if len(self._left) > self.MOST:  # The bucket that was not used for longest is full again.
            del self._left[next(iter(self._left))]
        if not enough:
            wait = int((1.0 - left) / self._rate) + 1
            why = f"there were more than {self._rate:g} requests a second; wait for {wait} s"
            raise Refusal(429, why, retry=wait)


class Places:
    """How many of something may be under way at once: of one caller, and of all together.

    Parameters
    ----------
    what : str
        What is counted, in the plural, as refusals name it.
    most, each : int
        How many there may be in all, and of one caller.
    """

    def __init__(self, what: str, most: int, each: int) -> None:
        self.what, self.most, self.each = what, most, each
        self._callers: list[str] = []

    @property
    def taken(self) -> int:
        """How many are under way."""
        return len(self._callers)

    @contextmanager
    def take(self, who: str, role: str = ADMIN) -> Iterator[None]:
        """Take a place for somebody of a role, or refuse; give it back in the end."""
        if self._callers.count(who) >= self.each:
            mine = f"{self.each} {self.what} of yours are under way"
            raise Refusal(429, f"{mine}; wait until one of them has ended", retry=1)
        if self.taken >= self.count_places(role):
            raise Refusal(503, f"there are too many {self.what} at once; try again", retry=1)
        self._callers.append(who)
        try:
            yield
        finally:
            self._callers.remove(who)

    def count_places(self, role: str) -> int:
        """Return how many places may be taken before somebody of a role is refused."""
        share = _SHARES.get(role, _OTHERS)
        return max(1, int(self.most * share))
