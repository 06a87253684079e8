"""Count requests, for Prometheus to read."""

from typing import Final

import prometheus_client as prometheus

from grbp.live.config import this_version

MEDIA_TYPE: Final = prometheus.CONTENT_TYPE_LATEST

_METHODS: Final = ("GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS")

_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The ends of the classes of seconds that are counted."""


class Metrics:
    """How many requests there were by route and status, and how long they took."""

    def __init__(self) -> None:
        prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]
        self._all = registry = prometheus.CollectorRegistry()
        version = prometheus.Info("grbp", "The version of this package.", registry=registry)
        version.info({"version": this_version()})
        began = "When the server was started, in Unix time."
        start = prometheus.Gauge("grbp_start_time_seconds", began, registry=registry)
        start.set_to_current_time()
        self._requests = prometheus.Counter(
            "grbp_requests", "Requests by route and status.", ["method", "route", "status"],
            registry=registry,
        )  # fmt: skip
        self._took = prometheus.Histogram(
            "grbp_request_seconds", "How long requests took.", ["method", "route"],
            buckets=_BOUNDS, registry=registry,
        )  # fmt: skip

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        method = method if method in _METHODS else "other"
        self._requests.labels(method, route, status).inc()
        self._took.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """Return all counts."""
        return prometheus.generate_latest(self._all)
