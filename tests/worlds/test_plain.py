"""What `grbp fit --chain` writes is what every command reads."""

from pathlib import Path

import pytest

from grbp import Chain, Drift, Groups, Problem
from grbp.worlds.chain import Move
from grbp.worlds.plain import read_truth, write_truth
from grbp.worlds.world import World

UP = [0.85, 0.5, 0.4]
CHAIN = Chain(4, Move(UP, [0.15, 0.3, 0.6], stay=[0.0, 0.2, 0.0]), [0.2, 0.3, 0.9])


@pytest.mark.parametrize(
    "world",
    [
        Problem(4, 0.45, 0.3),
        Problem(5, 0.45, 0.3, {1: 0.25, 4: 0.75}),
        CHAIN,
        Drift([(1, Problem(4, 0.45, 0.3)), (500, Problem(4, 0.65, 0.3))], "jumps"),
        Groups(
            {"north 🌲": Problem(4, 0.45, 0.3), "south": CHAIN}, {"north 🌲": 0.25, "south": 0.75}
        ),
    ],
    ids=["problem", "starts", "chain", "drift", "groups"],
)
def test_a_truth_that_was_written_is_read_again(world: World, tmp_path: Path) -> None:
    file = tmp_path / "truth.toml"
    file.write_text(write_truth(world), "utf-8")
    assert write_truth(read_truth(file)) == write_truth(world)
    assert type(read_truth(file)) is type(world)
