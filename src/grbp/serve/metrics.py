"""Count requests, and say the counts as Prometheus reads them."""

import time
from collections import Counter
from itertools import accumulate
from threading import Lock
from typing import Final

from grbp.live.config import this_version

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_METHODS: Final = ("GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS")

_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The ends of the classes of seconds that are counted."""


class Metrics:
    """How many requests there were by route and status, and how long they took."""

    def __init__(self) -> None:
        self._began = time.time()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._took: dict[tuple[str, str], list[float]] = {}
        self._lock = Lock()

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        method = method if method in _METHODS else "other"
        with self._lock:
            self._requests[method, route, status] += 1
            took = self._took.setdefault((method, route), [0.0] * (len(_BOUNDS) + 2))
            took[sum(seconds > bound for bound in _BOUNDS)] += 1.0
            took[-1] += seconds

    def text(self) -> str:
        """Return all counts."""
        with self._lock:
            requests = dict(self._requests)
            took = {key: list(parts) for key, parts in self._took.items()}
        lines = [
            "# HELP grbp_info The version of this package.",
            "# TYPE grbp_info gauge",
            f'grbp_info{{version="{this_version()}"}} 1',
            "# HELP grbp_start_time_seconds When the server was started, in Unix time.",
            "# TYPE grbp_start_time_seconds gauge",
            f"grbp_start_time_seconds {self._began:.3f}",
            "# HELP grbp_requests_total Requests by route and status.",
            "# TYPE grbp_requests_total counter",
        ]
        for (method, route, status), number in sorted(requests.items()):
            where = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"grbp_requests_total{{{where}}} {number}")
        lines += [
            "# HELP grbp_request_seconds How long requests took.",
            "# TYPE grbp_request_seconds histogram",
        ]
        for (method, route), (*parts, total) in sorted(took.items()):
            where = f'method="{method}",route="{route}"'
            ends = [*map(str, _BOUNDS), "+Inf"]
            for end, below in zip(ends, accumulate(parts), strict=True):
                lines.append(f'grbp_request_seconds_bucket{{{where},le="{end}"}} {below:.0f}')
            lines.append(f"grbp_request_seconds_sum{{{where}}} {total:.6f}")
            lines.append(f"grbp_request_seconds_count{{{where}}} {sum(parts):.0f}")
        return "\n".join(lines) + "\n"
