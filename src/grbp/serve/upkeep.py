"""What the store's own log says of the last check and the last backup, and how it gets there."""

import json
from contextlib import suppress
from datetime import datetime
from typing import Any

from grbp.errors import GrbpError
from grbp.live import house
from grbp.live.schema import Event
from grbp.live.store.base import Store


def read_upkeep(store: Store) -> dict[str, float]:
    """Return when studies were last checked and backed up, and whether all was well."""
    found: dict[str, float] = {}
    verified, backup = (house.last_of(store, kind) for kind in (house.VERIFIED, house.BACKUP))
    if verified is not None:
        found["grbp_last_verify_time_seconds"] = _read_time(verified)
        found["grbp_last_verify_ok"] = float(bool(json.loads(verified.request).get("ok")))
    if backup is not None:
        found["grbp_last_backup_time_seconds"] = _read_time(backup)
    return found


def record_upkeep(store: Store, kind: str, who: str, now: datetime, **what: Any) -> None:
    """Record a check or a backup; a store that cannot be written to says so elsewhere."""
    with suppress(GrbpError):
        house.record(store, kind, who, now, **what)


def _read_time(event: Event) -> float:
    """Return when an event was recorded, in Unix time."""
    return datetime.fromisoformat(event.recorded).timestamp()
