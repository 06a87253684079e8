"""Stop in time, whatever others do: a database that hangs does not hold up the end of a server."""

import logging
import os
import threading
from collections.abc import Callable
from typing import Final

from grbp.serve.logs import HANDLER

GRACE: Final = 5
"""Seconds that requests may still take when the server has to stop."""

LONGEST: Final = 9.0
"""Seconds after which the process ends, whatever is still under way."""

_SHOWN: Final = 5
_LOG: Final = logging.getLogger("grbp.serve")


class Watchdog:
    """Ends the process some seconds after it was started, unless it is called off.

    Parameters
    ----------
    describe : callable
        What lists what is under way, a phrase each.
    """

    def __init__(self, describe: Callable[[], list[str]]) -> None:
        self._describe = describe
        self._timer: threading.Timer | None = None

    def start(self, seconds: float = LONGEST) -> None:
        """Begin to wait, unless that was begun before."""
        if self._timer is None:
            self._timer = threading.Timer(seconds, self._end)
            self._timer.daemon = True
            self._timer.start()

    def call_off(self) -> None:
        """Let the process end by itself, if no thread keeps it from that."""
        ours = (threading.current_thread(), threading.main_thread(), self._timer)
        held = any(not one.daemon and one not in ours for one in threading.enumerate())
        if self._timer is not None and not held:
            self._timer.cancel()

    def _end(self) -> None:
        """End the process, and say what was cut off; not even a full pipe holds it."""
        says = threading.Thread(target=self._say, daemon=True)
        says.start()
        says.join(0.5)
        os._exit(1)

    def _say(self) -> None:
        under_way = self._describe()
        more = f" and {len(under_way) - _SHOWN} more" if len(under_way) > _SHOWN else ""
        what = f"{', '.join(under_way[:_SHOWN])}{more}" if under_way else "threads that hang"
        _LOG.error("stopped by force, %.0f s after the signal; this was cut off: %s", LONGEST, what)
        HANDLER.flush()
