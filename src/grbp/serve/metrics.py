"""What a monitor is told: counts of requests, as Prometheus reads them, and how the store does."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from types import SimpleNamespace
from typing import Any, Final, Generic, TypeVar

import prometheus_client as prometheus
from prometheus_client.core import GaugeMetricFamily, Metric

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

    def text(self, *now: Metric) -> bytes:
        """Return all counts, and some numbers of this moment."""
        moment = SimpleNamespace(collect=lambda: now)
        return prometheus.generate_latest(self._all) + prometheus.generate_latest(moment)


class Question(Generic[T]):
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


def read_upkeep(store: Store) -> list[Metric]:
    """Return when studies were last checked and backed up, and whether all was well."""
    found: list[Metric] = []

    def add(name: str, what: str, value: float) -> None:
        found.append(GaugeMetricFamily(f"grbp_last_{name}", what, value))

    if (verified := store_log.last_of(store, store_log.VERIFIED)) is not None:
        when = "When a study was last checked, in Unix time."
        add("verify_time_seconds", when, _read_time(verified))
        add("verify_ok", "Whether all was well then.", json.loads(verified.request).get("ok", 0))
    if (backup := store_log.last_of(store, store_log.BACKUP)) is not None:
        when = "When the store was last backed up, in Unix time."
        add("backup_time_seconds", when, _read_time(backup))
    return found


def record_upkeep(store: Store, kind: str, who: str, now: datetime, **what: Any) -> None:
    """Record a check or a backup; a store that cannot be written to says so elsewhere."""
    with suppress(GrbpError):
        store_log.record(store, kind, who, now, **what)


def _read_time(event: Event) -> float:
    """Return when an event was recorded, in Unix time."""
    return datetime.fromisoformat(event.recorded).timestamp()
