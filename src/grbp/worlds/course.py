"""Write a truth as arrays for the engine: the chances of every group in every round."""

from typing import Final, NamedTuple, TypeAlias

import numpy as np

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.chain import Chain, as_chain
from grbp.worlds.drift import Drift
from grbp.worlds.dynprog import evaluate, solve
from grbp.worlds.groups import Groups
from grbp.worlds.problem import Problem

World: TypeAlias = Problem | Chain | Drift | Groups
"""A truth that learners can be played on."""

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
    truths = list(world.truths.values()) if isinstance(world, Groups) else [world]
    shares = list((world.shares or {}).values()) if isinstance(world, Groups) else [1.0]
    stages = [_stages(one) for one in truths]
    changes = any(isinstance(one, Drift) for one in truths)
    if changes and rounds > MOST_ROUNDS:
        raise InvalidInput(
            f"rounds = {rounds:,} was given with chances that drift; it must be at most"
            f" {MOST_ROUNDS:,}"
        )
    count = max(map(len, stages))
    chains = [[*some, *[some[-1]] * (count - len(some))] for some in stages]
    near = all(one.leads_to_neighbours for some in chains for one in some)
    paths = [_path(one, rounds if changes else 1) for one in truths]
    tables = [_start_table(some[0]) for some in chains]
    return Course(
        chains[0][0].goal,
        np.array([[one.law[:, 2:].diagonal() for one in some] for some in chains]),
        np.array([[one.p_f for one in some] for some in chains]),
        np.zeros((0, 0, 0, 0)) if near else np.array([[one.law for one in c] for c in chains]),
        np.array([stage for stage, _ in paths]),
        np.array([weight for _, weight in paths]),
        np.cumsum(shares),
        np.array([states for states, _ in tables]),
        np.array([cumulative for _, cumulative in tables]),
        np.array([some[0].start_probabilities for some in chains]),
    )


def _stages(one: Problem | Chain | Drift) -> list[Chain]:
    """Return the chains of a truth, one for each stage."""
    given = [stage for _, stage in one.stages] if isinstance(one, Drift) else [one]
    chains = [as_chain(stage) for stage in given]
    for chain in chains:
        if np.isinf(evaluate(chain, np.zeros(chain.goal - 1, dtype=np.int64)).steps).any():
            raise InvalidInput(
                "a chain was given in which CONTINUE may go on for ever; every state must lead to"
                " an end"
            )
    return chains


def _path(one: Problem | Chain | Drift, rounds: int) -> tuple[Ints, Floats]:
    if isinstance(one, Drift):
        return one.path(rounds)
    return np.zeros(rounds, dtype=np.int64), np.zeros(rounds)


def _start_table(chain: Chain) -> tuple[Ints, Floats]:
    """Return the start table, filled up to goal - 1 columns with what is never reached."""
    states, cumulative = chain.start_table
    more = chain.goal - 1 - len(states)
    return np.append(states, np.repeat(states[-1:], more)), np.append(
        cumulative, np.full(more, 2.0)
    )


def best_value(chain: Chain) -> float:
    """Compute the best chance of reaching the goal, averaged over first states."""
    return chain.start_mean(solve(chain).value)
