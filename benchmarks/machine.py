"""What the figures were measured on."""

import datetime
import os
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from yardsticks import cpp_steps

_CPUINFO = Path("/proc/cpuinfo")


def describe() -> list[tuple[str, str]]:
    """The machine and what is installed on it, by name."""
    return [
        ("date", datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("CPU", cpu()),
        ("cores", f"{cores()} that this process may use"),
        ("busy before", f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?"),
        ("system", system()),
        ("Python", platform.python_version()),
        *((name, installed(name)) for name in ("grbp", "numpy", "numba", "gymnasium")),
        ("compiler", cpp_steps.compiler_version()),
        ("its options", " ".join(cpp_steps.FLAGS)),
    ]


def cpu() -> str:
    """The processor's name, with the numbers that say which it is."""
    found = next(_processors(), {})
    if "model name" not in found:
        return platform.processor() or platform.machine()
    numbers = f"family {found.get('cpu family', '?')}, model {found.get('model', '?')}"
    return f"{found['model name']} ({numbers})"


def cores() -> int:
    """The real cores that this process may use, not counting a core's second thread."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    real = {(p.get("physical id"), p["core id"]) for p in _processors() if "core id" in p}
    return min(usable or 1, len(real)) if real else usable or 1


def system() -> str:
    """The operating system's name."""
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.platform()
    return f"{name}, {platform.system()} {platform.release()}"


def installed(name: str) -> str:
    """The version of a package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processors() -> Iterator[dict[str, str]]:
    """What Linux says of every processor; nothing elsewhere."""
    text = _CPUINFO.read_text("utf-8") if _CPUINFO.is_file() else ""
    for part in text.strip().split("\n\n"):
        lines = (line.split(":", 1) for line in part.split("\n") if ":" in line)
        yield {name.strip(): value.strip() for name, value in lines}
