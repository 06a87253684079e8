"""The family of worlds: every kind answers what callers ask; one of a single part is that part."""

import pickle
from typing import Any

import numpy as np
import pytest

import grbp
from grbp import Chain, Drift, Groups, Move, Problem
from grbp.worlds.plain import KINDS, from_plain
from grbp.worlds.world import World, check_paper, check_world

PROBLEM = Problem(4, 0.45, 0.3, start={1: 0.25, 3: 0.75})
CHAIN = Chain(4, Move(0.3, 0.4, stay=0.3), [0.1, 0.3, 0.7], start={1: 0.25, 3: 0.75})
HOPS = Chain(4, Move(0.3, 0.2, stay=0.2, windfall=0.3), [0.1, 0.5, 0.6])
DRIFT = Drift([(1, PROBLEM), (9, CHAIN)])
GROUPS = Groups({"a": DRIFT, "b": HOPS}, {"a": 0.25, "b": 0.75})
WORLDS: list[World] = [PROBLEM, CHAIN, HOPS, DRIFT, GROUPS]
each_world = pytest.mark.parametrize(
    "world", WORLDS, ids=["problem", "chain", "hops", "drift", "groups"]
)


@each_world
def test_every_kind_answers_everything(world: World) -> None:
    kind = type(world)
    assert not [n for n in dir(kind) if getattr(getattr(kind, n), "__isabstractmethod__", False)]
    assert kind in {*KINDS.values(), Chain}
    assert check_world(world) is world
    assert sum(world.group_shares) == pytest.approx(1.0)
    assert world.columns[0] == world.point[0] == world.goal == 4
    assert world.known is (4 if world.parts else world)
    assert (world.chain is None) == bool(world.parts)
    assert (world.paper is None) == (world is not PROBLEM)


@each_world
def test_plain_data_and_pickles_say_all_of_a_world(world: World) -> None:
    for again in (from_plain(world.to_plain()), pickle.loads(pickle.dumps(world))):  # noqa: S301
        assert type(again) is type(world)
        assert again.columns == pytest.approx(world.columns)
        assert again.point == pytest.approx(world.point)


@pytest.mark.parametrize("part", [PROBLEM, CHAIN, HOPS], ids=["problem", "chain", "hops"])
def test_a_world_of_one_part_is_that_part(part: Any) -> None:
    for world in (
        Drift([(1, part)]),
        Drift([(1, part), (5, part)], "jumps"),
        Groups({"all": part}),
    ):
        assert world.columns == part.columns
        assert world.point == part.point
        (truth,) = world.groups.values()
        assert truth.stages[0][1] is part
        for x, y in zip(truth.chances(7), part.chances(1), strict=True):
            np.testing.assert_array_equal(x, y)


def test_the_chain_of_a_problem_has_its_chances() -> None:
    chain = PROBLEM.chain
    assert chain.columns == PROBLEM.columns
    assert chain.point == PROBLEM.point
    for x, y in zip(chain.chances(1)[:2], PROBLEM.chances(1)[:2], strict=True):
        np.testing.assert_array_equal(x, y)


def test_what_has_parts_is_not_solved_as_one() -> None:
    assert grbp.dynprog.solve(PROBLEM).threshold == 1
    with pytest.raises(grbp.InvalidInput, match=r"^cannot solve a Drift: the parts .* \(1, 9\)$"):
        grbp.dynprog.solve(DRIFT)
    with pytest.raises(grbp.InvalidInput, match=r"^cannot solve Groups: the parts .* \(a, b\)$"):
        grbp.dynprog.evaluate(GROUPS, [1, 0, 0])
    with pytest.raises(grbp.InvalidInput, match=r"^chain = 4 was given; it must be a Problem, a"):
        grbp.dynprog.solve(4)  # type: ignore[arg-type]
    with pytest.raises(grbp.InvalidInput, match=r"^a Chain was given; play it$"):
        check_paper(CHAIN, "play it")


@pytest.mark.parametrize("wrong", [DRIFT, GROUPS, 4], ids=["drift", "groups", "number"])
def test_parts_are_what_they_can_be(wrong: Any) -> None:
    with pytest.raises(grbp.InvalidInput, match="a list of"):
        Drift([(1, wrong)])
    if wrong is not DRIFT:
        with pytest.raises(grbp.InvalidInput, match="a Problem, Chain or Drift"):
            Groups({"a": wrong})
