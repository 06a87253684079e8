"""Repeat a drawn sample of what the documents claim in numbers, by the commands that stand there.

python tools/claims.py [--sample 60] [--seed 1] [--only WORD] [--limit SECONDS] [--full]

A claim is a `grbp` command with what it prints, a line of Python with what it prints, or a row of a
table that a benchmark wrote, unless it is a time. A row is repeated at toy size: a quick run of its
section must have the digest that the page keeps. With --full the section is measured as a whole,
and the row must come out as it stands. Sentences are not drawn.
"""

import argparse
import os
import random
import re
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "docs"))

from test_documents import ANSWER, DOCUMENTS, blocks, steady  # noqa: E402 (it lies elsewhere)

VERIFIED, STALE, NO_COMMAND, TOO_LONG = "verified", "stale", "no command", "took too long"
COMMAND = re.compile(r"`python (benchmarks/\S+ --only \S+) --quick` ha[sd] the digest (\w+)")
TIMED = re.compile(r"^(- CPU:|\| CPU \|)|The machine: |^Times, measured ", re.MULTILINE)


class Claim(NamedTuple):
    """What a document says: of which kind, in which words, and what it rests on."""

    where: str
    kind: str
    text: str
    rests_on: str


def claims(where: str, text: str) -> Iterator[Claim]:
    """Find what a document claims in numbers."""
    shell, python = blocks(text, "console"), blocks(text, "python")
    for command, said in ANSWER.findall("".join(shell)):
        if re.search(r"\d", said):
            yield Claim(where, "shell", f"{command}\n{said}", "".join(shell))
    for piece in python if where == "README.md" else ["\n".join(python)]:
        for said in re.findall(r"^print.*# (.*\d.*)$", piece, re.MULTILINE):
            yield Claim(where, "Python", said, piece)
    head, *parts = text.split("\n## ")
    if where.startswith("benchmarks/") and not TIMED.search(head):
        for part in parts:
            if not TIMED.search(part):
                for row in re.findall(r"^\| (.*\d.*) \|$", part, re.MULTILINE):
                    yield Claim(where, "row", row, part)


def judge(claim: Claim, limit: float, full: bool = False) -> str:
    """Run what a claim rests on, and say what came of it."""
    try:
        if claim.kind == "shell":
            return judge_shell(claim, limit)
        if claim.kind == "row":
            return judge_row(claim, limit, full)
        status, out = ran((sys.executable, "-W", "error", "-c", claim.rests_on), "", limit)
        return NO_COMMAND if status else VERIFIED if claim.text in out.splitlines() else STALE
    except subprocess.TimeoutExpired:
        return TOO_LONG


def judge_shell(claim: Claim, limit: float) -> str:
    """Run the commands of a document in order, up to the one of the claim."""
    asked, said = claim.text.split("\n", 1)
    with TemporaryDirectory() as folder:
        for line, _ in ANSWER.findall(claim.rests_on):
            command, _, file = line.partition(" > ")
            words = (sys.executable, "-m", "grbp", *shlex.split(command))
            status, out = ran(words, folder, limit)
            if file:
                (Path(folder) / file).write_text(out, "utf-8")
            if line == asked:
                break
    if status and not said.startswith("grbp: "):
        return NO_COMMAND
    beginning, rest = said.removesuffix("...\n"), said.endswith("\n...\n")
    same = steady(out).startswith(steady(beginning)) if rest else steady(out) == steady(said)
    return VERIFIED if same else STALE


def judge_row(claim: Claim, limit: float, full: bool) -> str:
    """Measure the section of a row, at toy size or as a whole."""
    found = COMMAND.search(claim.rests_on)
    if found is None:
        return NO_COMMAND
    words = (sys.executable, *found[1].split(), *(() if full else ("--quick",)))
    status, out = ran(words, str(ROOT), limit)
    if status:
        return NO_COMMAND
    row = " ".join(claim.text.replace("|", " ").split())
    said = row in [" ".join(line.split()) for line in out.splitlines()]
    return VERIFIED if (said if full else f"digest {found[2]}" in out) else STALE


@cache
def ran(words: tuple[str, ...], folder: str, limit: float) -> tuple[int, str]:
    """Run a command as whoever wrote the documents; return its status and what it printed."""
    here = os.environ | {"LOGNAME": "ada", "TZ": "UTC"}
    here.pop("GRBP_STORE", None)
    with TemporaryDirectory() as empty:
        done = subprocess.run(
            words, cwd=folder or empty, env=here, capture_output=True, text=True, check=False,
            timeout=limit,
        )  # fmt: skip
    refused = done.returncode or "benchmarks/" in words[1]
    return done.returncode, done.stdout + (done.stderr if refused else "")


def main() -> None:
    """Draw claims, judge them, and print what came of each and of all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sample", type=int, default=60, help="how many claims (60)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--only", default="", help="those whose document or words have this")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each command (120)")
    parser.add_argument("--full", action="store_true", help="measure rows at full size")
    asked = parser.parse_args()
    all_of_them = [
        one
        for name, text in DOCUMENTS.items()
        for one in claims(name, text)
        if asked.only in f"{name} {one.text}"
    ]
    drawn = random.Random(asked.seed).sample(all_of_them, min(asked.sample, len(all_of_them)))  # noqa: S311
    sys.stdout.write(f"{len(drawn)} of {len(all_of_them):,} claims, seed {asked.seed}\n")
    count: Counter[str] = Counter()
    for one in drawn:
        began = time.perf_counter()
        verdict = judge(one, asked.limit, asked.full)
        count[verdict] += 1
        words = f"{one.where}, {one.kind}: {one.text.partition(chr(10))[0]}"
        took = f"{time.perf_counter() - began:5.0f} s"
        sys.stdout.write(f"{verdict:<14}{took}  {words[:100]}\n")
        sys.stdout.flush()
    sys.stdout.write("".join(f"{number:5} {verdict}\n" for verdict, number in count.most_common()))
    sys.exit(bool(count[STALE] + count[NO_COMMAND]))


if __name__ == "__main__":
    main()
