"""A damaged store: every verb names it or refuses in one sentence, and nobody is advised wrongly.

What is damaged where nobody reads it changes nothing.
"""

from pathlib import Path
from unittest.mock import patch

import pytest
from cuts import FOLDER
from flips import break_pages, change_rows, flip_many
from power import Disk


@pytest.mark.sample("0-16")
@pytest.mark.slow
@pytest.mark.parametrize(("seed", "count"), [(0, 16), *((seed, 100) for seed in range(4))])
def test_a_flipped_bit_is_named_refused_or_nowhere(tmp_path: Path, seed: int, count: int) -> None:
    flips = []
    with Disk() as disk, patch(FOLDER, disk.sync_folder):
        for flip in flip_many(tmp_path, count, seed):
            flips.append(flip)
            disk.trace.clear()
    assert [flip.wrong for flip in flips if flip.wrong] == []
    # Of a log ahead, SQLite reads what stands before the flip, and takes that for all.
    assert {flip.outcome for flip in flips if flip.ahead} <= {
        "older",
        "named",
        "refused",
        "nothing",
    }
    in_file = [flip for flip in flips if not flip.ahead]
    assert {flip.outcome for flip in in_file} <= {"named", "refused", "nothing"}
    in_events = [flip for flip in in_file if flip.event is not None]
    assert len(in_events) > count / 10
    for flip in in_events:
        assert any(f"event {flip.event} " in said for said in flip.sentences), flip
    # The chain and the fold see several times what SQLite's own check sees, and all of that.
    seen = [flip for flip in in_file if flip.outcome != "nothing"]
    assert len(seen) > 2 * sum(flip.by_sqlite for flip in in_file)
    assert all(flip.outcome != "nothing" for flip in in_file if flip.by_sqlite)


@pytest.mark.sample("7")
@pytest.mark.slow
@pytest.mark.parametrize("each", [7, 1])
def test_changed_rows_end_no_verb_with_a_traceback_and_advise_nobody_wrongly(
    tmp_path: Path, each: int
) -> None:
    with Disk() as disk, patch(FOLDER, disk.sync_folder):
        wrong = [damage for damage in change_rows(tmp_path, each) if damage.wrong]
    assert wrong == []


@pytest.mark.sample("0-1")
@pytest.mark.slow
@pytest.mark.parametrize(("seed", "pages"), [(0, 1), *((seed, 8) for seed in range(8))])
def test_broken_pages_end_no_verb_with_a_traceback_and_advise_nobody_wrongly(
    tmp_path: Path, seed: int, pages: int
) -> None:
    with Disk() as disk, patch(FOLDER, disk.sync_folder):
        wrong = [damage for damage in break_pages(tmp_path, seed, pages) if damage.wrong]
    assert wrong == []
