"""Chunks: whatever is cut how, every replica is played once and counted once."""

from collections import Counter
from dataclasses import replace

from hypothesis import given, strategies as st

import grbp
from grbp.experiments.cells import Cell, Chunk, Played, make_cells
from grbp.experiments.chunks import Queue, choose_chunks, find_missing
from grbp.experiments.game import Tally
from grbp.experiments.sweep import Shard
from grbp.experiments.sweep_file import StoredChunk
from grbp.experiments.sweep_spec import SweepSpec

SPEC = SweepSpec("x", grbp.Problem(4, 0.4, 0.3), ["getbe-sm"], 10, 1)
(CELL,) = make_cells(SPEC)
PIECES = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), max_size=12)


def named(count: int) -> list[Cell]:
    return [replace(CELL, key=f"{k:04}") for k in range(count)]


@given(PIECES, st.integers(1, 40))
def test_chosen_chunks_do_not_overlap_and_with_the_missing_make_the_whole(
    pieces: list[tuple[int, int]], replicas: int
) -> None:
    kept = [StoredChunk(first, size, "") for first, size in pieces]
    have = choose_chunks(kept, replicas)
    assert set(have) <= set(kept)
    rest = [gap for gap in find_missing(have, range(replicas)) if gap]
    counted = Counter(k for one in (*(range(c.first, c.end) for c in have), *rest) for k in one)
    assert counted == Counter(range(replicas))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), PIECES)
def test_a_way_through_is_found_if_there_is_one(
    sizes: list[int], others: list[tuple[int, int]]
) -> None:
    ends = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    kept = [StoredChunk(first, size, "") for first, size in zip(ends, sizes, strict=False)]
    kept += [StoredChunk(first, size, "") for first, size in others]
    assert not [gap for gap in find_missing(choose_chunks(kept, ends[-1]), range(ends[-1])) if gap]


@given(
    st.lists(st.integers(1, 3000), min_size=1, max_size=8),
    st.floats(1e-4, 10.0),
    st.floats(1e-7, 1e-2),
    st.booleans(),
)
def test_tasks_hold_every_replica_once(
    sizes: list[int], seconds: float, each: float, whole: bool
) -> None:
    queue = Queue(seconds, whole)
    cells = named(len(sizes))
    queue.put(Chunk(cell, 7, size) for cell, size in zip(cells, sizes, strict=True))
    assert queue.work_left is None
    counted: Counter[tuple[str, int]] = Counter()
    for task in queue.tasks():
        assert task
        queue.learn_from(Played(chunk, Tally(()), each * chunk.size) for chunk in task)
        counted.update((c.cell.key, c.first + k) for c in task for k in range(c.size))
    wanted = {(cell.key, 7 + k) for cell, n in zip(cells, sizes, strict=True) for k in range(n)}
    assert counted == Counter(wanted)
    assert not queue.left
    assert not queue.work_left


def test_nothing_is_said_of_the_time_left_until_every_learner_was_measured() -> None:
    queue = Queue(1.0)
    others = list(make_cells(replace(SPEC, learners=["getbe-sm", "no-explore"])))
    queue.put(Chunk(cell, 0, 1000) for cell in others)
    first = Chunk(others[0], 0, 100)
    queue.learn_from([Played(first, Tally(()), 2.0)])
    assert queue.work_left is None
    queue.learn_from([Played(first._replace(cell=others[1]), Tally(()), 1.0)])
    assert queue.work_left == 900 * 0.02 + 900 * 0.01


@given(st.integers(1, 9), st.integers(1, 30), st.integers(1, 12), st.booleans())
def test_parts_share_every_replica_out_once(
    cells: int, replicas: int, count: int, precise: bool
) -> None:
    spec = replace(SPEC, replicas=replicas, se=0.1 if precise else None)
    counted: Counter[tuple[str, int]] = Counter()
    for index in range(1, count + 1):
        for cell, share in Shard(index, count).select(named(cells), spec):
            counted.update((cell.key, k) for k in (range(replicas) if share is None else share))
    assert counted == Counter((cell.key, k) for cell in named(cells) for k in range(replicas))
