"""A benchmark in sections: it prints each as it is measured and, after a whole run, writes all."""

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from columns import Columns
from machine import describe, installed
from measure import Effort, say

Sections = Mapping[str, tuple[str, Callable[[Effort], list[Columns]]]]
"""By the name that --only takes: a heading, and what measures the tables under it."""


def run(script: str, title: str, legend: str, sections: Sections) -> None:
    """Measures what the command line asks for; a whole run is written beside the script."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--quick", action="store_true", help="little of everything; only prints")
    parser.add_argument("--only", choices=list(sections), help="one section; only prints")
    parser.add_argument("--write", action="store_true", help="write that section into the file")
    asked = parser.parse_args()
    versions = ", ".join(f"{name} {installed(name)}" for name in ("grbp", "numpy", "numba"))
    written = f"Written by `benchmarks/{Path(script).name}` with {versions}. {legend}"
    lines, file = [f"# {title}", "", written, ""], Path(script).with_suffix(".md")
    for name in [asked.only] if asked.only else sections:
        heading, measure = sections[name]
        began = time.perf_counter()
        say(f"{name}:")
        tables = measure(Effort(asked.quick))
        sys.stdout.write("".join(table.text() + "\n" for table in tables))
        sys.stdout.flush()
        say(f"{name} took {time.perf_counter() - began:.0f} s")
        lines += [f"## {heading}", "", *(table.markdown() for table in tables)]
    text = "\n".join(lines)
    if asked.only and asked.write:
        text = _replaced(file.read_text("utf-8"), text)
    elif asked.quick or asked.only:
        return
    file.write_text(text, "utf-8")
    say(f"wrote {file}")


def _replaced(whole: str, part: str) -> str:
    """The file with one section anew, or with that section at its end."""
    head, *others = whole.split("\n## ")
    _, new = part.split("\n## ", 1)
    heading = new.split("\n", 1)[0]
    k = next((k for k, one in enumerate(others) if one.startswith(heading + "\n")), len(others))
    others[k : k + 1] = [new]
    return "\n## ".join([head, *others])


def run_table(script: str, title: str, measured: Callable[[Effort], Columns]) -> None:
    """Measures one table, prints it and, after a whole run, writes it beside the script."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work; only prints")
    quick = parser.parse_args().quick
    table = measured(Effort(quick))
    sys.stdout.write(table.text())
    if quick:
        return
    kept = ("date", "CPU", "cores", "busy before", "system", "Python", "grbp", "numpy", "numba")
    facts = [f"- {name}: {fact}" for name, fact in describe() if name in kept]
    lines = [f"# {title}", "", *facts, "", table.markdown().removeprefix("#")]
    file = Path(script).with_suffix(".md")
    file.write_text("\n".join(lines), "utf-8")
    say(f"wrote {file}")
