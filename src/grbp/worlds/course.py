"""Write a truth as arrays for the engine: the chances of every group in every round."""

from typing import Final, NamedTuple

import numpy as np

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.chain import Chain
from grbp.worlds.dynprog import evaluate
from grbp.worlds.world import UngroupedWorld, World

MOST_ROUNDS: Final = 10**7
"""The most rounds of a truth that changes: each of them has chances of its own."""


class Course(NamedTuple):
    """A truth as arrays, by group and stage.

    Attributes
    ----------
    goal : int
    up, p_f : ndarray, shape (groups, stages, goal - 1)
        The chance that CONTINUE moves up, and that FINISH reaches the goal.
    law : ndarray, shape (groups, stages, goal - 1, goal + 1) or (0, 0, 0, 0)
        The law of CONTINUE from each inner state to each state, where it does not lead to
        neighbours alone.
    stage : ndarray of int, shape (groups, rounds or 1)
    weight : ndarray, shape (groups, rounds or 1)
        The stage of every round, and the weight of the next stage: see `Drift.path`. There is one
        column where nothing changes.
    shares : ndarray, shape (groups,)
        The cumulative probabilities of the groups.
    starts : ndarray of int, shape (groups, goal - 1)
    cumulative : ndarray, shape (groups, goal - 1)
        The first states and their cumulative probabilities, as `Problem.start_table` has them,
        filled up with the last one.
    q : ndarray, shape (groups, goal - 1)
        The probability that a round starts in each state.
    """

    goal: int
    up: Floats
    p_f: Floats
    law: Floats
    stage: Ints
    weight: Floats
    shares: Floats
    starts: Ints
    cumulative: Floats
    q: Floats


def as_course(world: World, rounds: int) -> Course:
    """Return a truth as arrays; refuse one in which a case may never end."""
    if world.changes and rounds > MOST_ROUNDS:
        raise InvalidInput(
            f"rounds = {rounds:,} was given with chances that drift; it must be at most"
            f" {MOST_ROUNDS:,}"
        )
    truths = list(world.groups.values())
    stages = [_list_stages(truth) for truth in truths]
    count = max(map(len, stages))
    chains = [[*some, *[some[-1]] * (count - len(some))] for some in stages]
    near = all(chain.leads_to_neighbours for some in chains for chain in some)
    paths = [truth.path(rounds if world.changes else 1) for truth in truths]
    tables = [_start_table(some[0]) for some in chains]
    return Course(
        world.goal,
        np.array([[chain.law[:, 2:].diagonal() for chain in some] for some in chains]),
        np.array([[chain.p_f for chain in some] for some in chains]),
        np.zeros((0, 0, 0, 0)) if near else np.array([[one.law for one in c] for c in chains]),
        np.array([stage for stage, _ in paths]),
        np.array([weight for _, weight in paths]),
        np.cumsum([*world.group_shares]),
        np.array([states for states, _ in tables]),
        np.array([cumulative for _, cumulative in tables]),
        np.array([some[0].start_probabilities for some in chains]),
    )


def _list_stages(truth: UngroupedWorld) -> list[Chain]:
    """Return the chain of each stage; refuse one in which a case may never end."""
    chains = [stage.chain for _, stage in truth.stages]
    for chain in chains:
        if np.isinf(evaluate(chain, np.zeros(chain.goal - 1, dtype=np.int64)).steps).any():
            raise InvalidInput(
                "a chain was given in which CONTINUE may go on for ever; every state must lead to"
                " an end"
            )
    return chains


def _start_table(chain: Chain) -> tuple[Ints, Floats]:
    """Return the start table, filled up to goal - 1 columns with what is never reached."""
    states, cumulative = chain.start_table
    more = chain.goal - 1 - len(states)
    return np.append(states, np.repeat(states[-1:], more)), np.append(
        cumulative, np.full(more, 2.0)
    )
