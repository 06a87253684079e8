"""A benchmark in sections: it prints each as it is measured and, after a whole run, writes all.

Under the heading of a section stands what it was measured with, and the digest of what a quick run
of it gives. If that gives other numbers one day, `--stamp` makes the page say so.
"""

import argparse
import hashlib
import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from columns import Columns
from machine import describe, installed
from measure import Effort, say


class Section(NamedTuple):
    """A heading, what measures the tables under it, and whether these are times, or need them."""

    heading: str
    measure: Callable[[Effort], list[Columns]]
    timed: bool = False


Sections = Mapping[str, Section]
"""By the name that --only takes."""

MACHINE = "The machine: "
"""What the legend of a page has where all of it was timed."""

STAMP = re.compile(r"\n\n((?:Measured|Older than the code: measured|Times, measured) with .*)\n")
"""What stands under the heading of a section."""

_KEPT = re.compile(r"easured (with .*?), (?:and|when) `.*` ha[sd] the digest (\w+)")


def run(script: str, title: str, legend: str, sections: Sections) -> None:
    """Measures what the command line asks for; a whole run is written beside the script."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--quick", action="store_true", help="little of everything; only prints")
    parser.add_argument("--only", choices=list(sections), help="one section; only prints")
    parser.add_argument("--write", action="store_true", help="write that section into the file")
    parser.add_argument("--stamp", action="store_true", help="say which sections are old")
    asked = parser.parse_args()
    file = Path(script).with_suffix(".md")
    names = [asked.only] if asked.only else list(sections)
    if asked.stamp:
        kept = {name: sections[name] for name in names if not sections[name].timed}
        found = {name: digest(one.measure(Effort(quick=True))) for name, one in kept.items()}
        file.write_text(stamped(file.read_text("utf-8"), script, legend, sections, found), "utf-8")
        say(f"stamped {file}")
        return
    lines = [f"# {title}", "", written_by(script, legend), ""]
    for name in names:
        one = sections[name]
        began = time.perf_counter()
        say(f"{name}:")
        tables = one.measure(Effort(asked.quick))
        sys.stdout.write("".join(table.text() + "\n" for table in tables))
        sys.stdout.flush()
        say(f"{name} took {time.perf_counter() - began:.0f} s")
        if asked.quick and not one.timed:
            say(f"digest {digest(tables)}")
        elif asked.write or not asked.only:
            lines += [f"## {one.heading}", ""]
            lines += [] if one.timed and MACHINE in legend else [stamp(script, name, one), ""]
            lines += [table.markdown() for table in tables]
    text = "\n".join(lines)
    if asked.quick or (asked.only and not asked.write):
        return
    file.write_text(replaced(file.read_text("utf-8"), text) if asked.only else text, "utf-8")
    say(f"wrote {file}")


def written_by(script: str, legend: str) -> str:
    """The first paragraph of a page."""
    how = f" with {versions()}" if MACHINE in legend else ""
    return f"Written by `benchmarks/{Path(script).name}`{how}. {legend}"


def versions() -> str:
    """What is installed that numbers depend on."""
    return ", ".join(f"{name} {installed(name)}" for name in ("grbp", "numpy", "numba"))


def digest(tables: list[Columns]) -> str:
    """The digest of what the cells of tables say, whatever is written around them."""
    cells = [[list(table.heads), *map(list, table.rows)] for table in tables]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:12]


def stamp(script: str, name: str, one: Section) -> str:
    """What a section was measured with, today."""
    when = f"with {versions()} on {time.strftime('%Y-%m-%d')}"
    if one.timed:
        facts = dict(describe())
        return f"Times, measured {when}. {MACHINE}{facts['CPU']}, {facts['cores']}."
    return _current(when, _command(script, name), digest(one.measure(Effort(quick=True))))


def _command(script: str, name: str) -> str:
    """The command that measures a section."""
    return f"python benchmarks/{Path(script).name} --only {name}"


def _current(when: str, command: str, found: str) -> str:
    """The stamp of a section that is as old as the code, or as good as that."""
    return f"Measured {when}, and `{command} --quick` has the digest {found}."


def stamped(
    page: str, script: str, legend: str, sections: Sections, found: Mapping[str, str]
) -> str:
    """The page with its legend, and with what its sections are to say of their age.

    A section that says nothing yet was measured before today, and keeps its digest from now on.
    """
    head, *others = page.split("\n## ")
    if MACHINE not in legend:
        head = f"{head.split(chr(10), 1)[0]}\n\n{written_by(script, legend)}\n"
    for name, now in found.items():
        for k, part in enumerate(others):
            heading = sections[name].heading
            if part.startswith(heading + "\n"):
                others[k] = _aged(part, heading, now, _command(script, name))
    return "\n## ".join([head, *others])


def _aged(part: str, heading: str, now: str, command: str) -> str:
    """One section with its stamp as it is to be."""
    rest = part[len(heading) :]
    old = STAMP.match(rest)
    kept = _KEPT.search(old[1]) if old else None
    if kept is None:
        when = f"with {versions()} before {time.strftime('%Y-%m-%d')}"
        rest = rest[old.end() :] if old else rest[1:]
        return f"{heading}\n\n{_current(when, command, now)}\n{rest}"
    line = _current(kept[1], command, kept[2])
    if now != kept[2]:
        line = (
            f"Older than the code: measured {kept[1]}, when `{command} --quick` had the digest"
            f" {kept[2]}. It gives other numbers now; `{command} --write` measures anew."
        )
    return f"{heading}\n\n{line}\n{rest[old.end() :]}"


def replaced(whole: str, part: str) -> str:
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
