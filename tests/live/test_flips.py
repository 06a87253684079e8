"""One flipped bit in a finished file: it is named, refused, or changes nothing that can be read."""

from pathlib import Path
from unittest.mock import patch

import pytest
from cuts import FOLDER
from flips import flip_many
from power import Disk


@pytest.mark.sample("0")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_bit_is_named_refused_or_nowhere(tmp_path: Path, seed: int) -> None:
    with Disk() as disk, patch(FOLDER, disk.sync_folder):
        flips = list(flip_many(tmp_path, 100, seed))
    assert {flip.outcome for flip in flips} == {"named", "refused", "nothing"}
    in_events = [flip for flip in flips if flip.event is not None]
    assert len(in_events) > 20
    for flip in in_events:
        assert any(f"event {flip.event} " in said for said in flip.sentences), flip
    # The chain and the fold see several times what SQLite's own check sees, and all of that.
    seen = [flip for flip in flips if flip.outcome != "nothing"]
    assert len(seen) > 2 * sum(flip.by_sqlite for flip in flips)
    assert all(flip.outcome != "nothing" for flip in flips if flip.by_sqlite)
