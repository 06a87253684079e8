"""What a monitor is told: counts of requests, as Prometheus reads them, and how the store does."""

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

import prometheus_client as prometheus
from prometheus_client.core import CounterMetricFamily, Metric

from grbp.errors import GrbpError
from grbp.live import store_log
from grbp.live.config import this_version
from grbp.live.schema import Event
from grbp.live.store.base import Store
from grbp.serve.discretion import hide_places

T = TypeVar("T")

MEDIA_TYPE: Final = prometheus.CONTENT_TYPE_LATEST

_METHODS: Final = ("GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS")

_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The ends of the classes of seconds that are counted."""

_LATEST: Final = {
    "grbp_last_verify_time_seconds": "When a study was last checked, in Unix time.",
    "grbp_last_verify_ok": "Whether all was well then.",
    "grbp_last_backup_time_seconds": "When the store was last backed up, in Unix time.",
}
"""What is known of the last check and the last backup, which are in the store's own log."""


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
        for name, value in (moments or {}).items():
            prometheus.Gauge(name, _LATEST[name], registry=latest).set(value)
        return prometheus.generate_latest(self._all) + prometheus.generate_latest(latest)


class _Total:
    """A number that only grows, and is counted elsewhere."""

    def __init__(self, name: str, what: str, count: Callable[[], float]) -> None:
        self._name, self._what, self._count = name, what, count

    def collect(self) -> Iterator[Metric]:
        """Yield the number."""
        yield CounterMetricFamily(self._name, self._what, value=self._count())


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


def read_upkeep(store: Store) -> dict[str, float]:
    """Return when studies were last checked and backed up, and whether all was well."""
    found: dict[str, float] = {}
    if (verified := store_log.last_of(store, store_log.VERIFIED)) is not None:
        found["grbp_last_verify_time_seconds"] = _read_time(verified)
        found["grbp_last_verify_ok"] = float(bool(json.loads(verified.request).get("ok")))
    if (backup := store_log.last_of(store, store_log.BACKUP)) is not None:
        found["grbp_last_backup_time_seconds"] = _read_time(backup)
    return found


def record_upkeep(store: Store, kind: str, who: str, now: datetime, **what: Any) -> None:
    """Record a check or a backup; a store that cannot be written to says so elsewhere."""
    with suppress(GrbpError):
        store_log.record(store, kind, who, now, **what)


def _read_time(event: Event) -> float:
    """Return when an event was recorded, in Unix time."""
    return datetime.fromisoformat(event.recorded).timestamp()
