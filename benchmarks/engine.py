"""How fast the engine is, next to other ways to do the same work, measured in one run.

    .venv/bin/python benchmarks/engine.py            # prints, and writes results.md and .png
    .venv/bin/python benchmarks/engine.py --quick    # a small version, which only prints
    .venv/bin/python benchmarks/engine.py --only paper

Whether everyone does the same work: benchmarks/yardsticks/check.py.
"""

import argparse
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import machine
import picture
from groups import bandits, large, length, paper, start
from measure import Effort, say
from table import LEGEND, WIDTH, Table

HERE = Path(__file__).parent

GROUPS: dict[str, Callable[[Effort], list[Table]]] = {
    "threads": length.threads,
    "million": length.million,
    "billion": length.billion,
    "large": large.tables,
    "start": start.tables,
    "bandits": bandits.tables,
}
"""All but the paper's work, which is drawn as well."""


def main() -> None:
    """Prints the tables and, after a whole run, writes them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="little of everything; only prints")
    parser.add_argument("--only", choices=["paper", *GROUPS], help="one group; only prints")
    parser.add_argument("--out", type=Path, help=f"where to write (a whole run: {HERE.name}/)")
    asked = parser.parse_args()
    effort = Effort(asked.quick)
    facts = machine.describe()
    out = sys.stdout
    out.write("".join(f"{name:<12}{value}\n" for name, value in facts) + "\n")
    speeds: paper.Speeds = {}
    tables: list[Table] = []
    for name in [asked.only] if asked.only else ["paper", *GROUPS]:
        say(f"{name}:")
        if name == "paper":
            speeds = paper.measure(effort)
            new = paper.tables(speeds, effort)
        else:
            new = GROUPS[name](effort)
        out.write("".join(table.text() + "\n" for table in new))
        out.flush()
        tables += new
    out.write("\n".join(textwrap.wrap(LEGEND, WIDTH)) + "\n")
    folder = asked.out or (None if asked.quick or asked.only else HERE)
    if folder is not None:
        write(folder, facts, tables, speeds)


def write(
    folder: Path, facts: list[tuple[str, str]], tables: list[Table], speeds: paper.Speeds
) -> None:
    """Nothing; writes results.md and, where the paper's work was measured, results.png."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# How fast the engine is", ""]
    lines += ["Measured by one run of `benchmarks/engine.py`. " + LEGEND, ""]
    if speeds:
        picture.draw(speeds, machine.cpu(), folder / "results.png")
        lines += ["![Nanoseconds a round, by engine and learner](results.png)", ""]
    lines += ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts), ""]
    text = "\n".join(lines) + "\n" + "\n".join(table.markdown() for table in tables)
    (folder / "results.md").write_text(text, "utf-8")
    say(f"wrote {folder / 'results.md'}")


if __name__ == "__main__":
    main()
