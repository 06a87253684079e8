"""Count requests, for Prometheus to read."""

from collections.abc import Callable, Iterator
from typing import Final

import prometheus_client as prometheus
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

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

    def watch(self, name: str, what: str, count: Callable[[], float]) -> None:
        """Show a number that goes up and down, as it is when somebody asks."""
        gauge = prometheus.Gauge(f"grbp_{name}", what, registry=self._all)
        gauge.set_function(count)

    def watch_total(self, name: str, what: str, count: Callable[[], float]) -> None:
        """Show a number that only grows, as it is when somebody asks."""
        self._all.register(_Total(f"grbp_{name}", what, count))

    def text(self, moments: dict[str, float] | None = None) -> bytes:
        """Return all counts, and some numbers of this moment with their names."""
        latest = prometheus.CollectorRegistry()
        latest.register(_Moments(moments or {}))
        return prometheus.generate_latest(self._all) + prometheus.generate_latest(latest)


class _Total:
    """A number that only grows, and is counted elsewhere."""

    def __init__(self, name: str, what: str, count: Callable[[], float]) -> None:
        self._name, self._what, self._count = name, what, count

    def collect(self) -> Iterator[Metric]:
        """Yield the number."""
        yield CounterMetricFamily(self._name, self._what, value=self._count())


class _Moments:
    """Numbers that were read from the store."""

    def __init__(self, known: dict[str, float]) -> None:
        self._known = known

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers."""
        for name, value in self._known.items():
            yield GaugeMetricFamily(name, LATEST[name], value=value)


LATEST: Final = {
    "grbp_last_verify_time_seconds": "When a study was last checked, in Unix time.",
    "grbp_last_verify_ok": "Whether all was well then.",
    "grbp_last_backup_time_seconds": "When the store was last backed up, in Unix time.",
}
"""What is known of the last check and the last backup, which are in the store's own log."""
