"""The history that every learner decides from: the counters of Algorithm 1, kept once for all.

The learner chooses a threshold from the counters as they are, the round is played with it, and
its outcome is settled into the counters afterwards.
"""

from typing import Final, NamedTuple

from grbp.numerics.jit import inlined, kernel
from grbp.numerics.rng import uniform
from grbp.worlds.transition import Action, next_state

NOBODY: Final = -1
"""The threshold that gets the credit of a round that was not played with one."""

ROUNDING: Final = 2.0**-50
"""Four units in the last place of a number, relative to it."""


class Counters(NamedTuple):
    """The counts of everything that happened before a round.

    They are floats because the initial estimates are fractions.

    Parameters
    ----------
    rho : int
        The number of the round that comes next, from 1.
    f, f_goal : float
        How often FINISH was taken, and how often it reached the goal (N_F and N_F^G).
    c, c_up : float
        How often CONTINUE was taken, and how often it moved up (N_C and N_C^u).
    plays_0, wins_0 : float
        The rounds played with threshold 0, and those of them that were won.
    plays_1, wins_1 : float
        The rounds played with threshold 1, and those of them that were won.

    Notes
    -----
    Paper: alg:GRBP

    Examples
    --------
    >>> import grbp
    >>> n = grbp.Counters(8, 4.0, 1.0, 20.0, 13.0, 4.0, 3.0, 3.0, 1.0)
    >>> n.f_goal / n.f, n.c_up / n.c
    (0.25, 0.65)
    """

    rho: int
    f: float
    f_goal: float
    c: float
    c_up: float
    plays_0: float
    wins_0: float
    plays_1: float
    wins_1: float


class Round(NamedTuple):
    """The outcome of one round.

    Parameters
    ----------
    first : int
        The state in which it started.
    won, f : int
        1 if it was won, and 1 if FINISH was taken; else 0.
    c, c_up : int
        How often CONTINUE was taken, and how often it moved up.
    """

    first: int
    won: int
    f: int
    c: int
    c_up: int


class Totals(NamedTuple):
    """The sums over some rounds: how many there were, and what was counted in them.

    Parameters
    ----------
    rounds, won : int
        The rounds, and those of them that were won.
    f, f_goal : int
        How often FINISH was taken, and how often it reached the goal.
    c, c_up : int
        How often CONTINUE was taken, and how often it moved up.
    """

    rounds: int
    won: int
    f: int
    f_goal: int
    c: int
    c_up: int


class Corner(NamedTuple):
    """A corner of a box of counters, as wins and losses of every kind.

    Parameters
    ----------
    f_goal, f_lost : float
        How often FINISH reached the goal, and how often the dead end.
    up, down : float
        How often CONTINUE moved up, and how often down.
    won_0, lost_0 : float
        The rounds won and lost with threshold 0.
    won_1, lost_1 : float
        The rounds won and lost with threshold 1.

    See Also
    --------
    corners : Find the two corners of a box that matter.

    Examples
    --------
    >>> import grbp
    >>> n = grbp.Counters(8, 4.0, 1.0, 20.0, 13.0, 4.0, 3.0, 3.0, 1.0)
    >>> corner, _ = grbp.corners(n, n)
    >>> corner.f_goal, corner.f_lost, corner.up, corner.down
    (1.0, 3.0, 13.0, 7.0)
    """

    f_goal: float
    f_lost: float
    up: float
    down: float
    won_0: float
    lost_0: float
    won_1: float
    lost_1: float


NO_COUNTS: Final = Counters(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The counters of which nothing is counted, not even the first estimates."""


@inlined
def as_corner(n: Counters) -> Corner:
    """Return counters as wins and losses of every kind."""
    return Corner(
        n.f_goal, n.f - n.f_goal, n.c_up, n.c - n.c_up,
        n.wins_0, n.plays_0 - n.wins_0, n.wins_1, n.plays_1 - n.wins_1,
    )  # fmt: skip


@inlined
def corners(low: Counters, high: Counters) -> tuple[Corner, Corner]:
    """Find the two corners of a box of counters between which every estimate lies.

    Counters within the box have their wins and losses between those of `low` and `high`, and
    estimates are monotone in each of them. A decision that is the same at both corners is
    therefore the same throughout the box.

    Parameters
    ----------
    low, high : Counters
        The box, as for `grbp.Stable`.

    Returns
    -------
    worst : Corner
        FINISH and threshold 1 have done worst (fewest wins, most losses), CONTINUE and threshold
        0 best.
    best : Corner
        The other way round.

    Notes
    -----
    Losses are what wins leave of a total. The initial estimates are fractions, so that wins are
    rounded as they grow: among 10^12 moves, losses are known to one in ten thousand. Where the
    most losses of FINISH or CONTINUE are few, a few units in the last place of the total are
    therefore added to them.

    Examples
    --------
    >>> import grbp
    >>> low = grbp.Counters(8, 4.0, 1.0, 20.0, 13.0, 4.0, 3.0, 3.0, 1.0)
    >>> high = low._replace(rho=10, f=6.0, f_goal=2.0)  # one win and one loss more
    >>> worst, best = grbp.corners(low, high)
    >>> worst.f_goal / (worst.f_goal + worst.f_lost), best.f_goal / (best.f_goal + best.f_lost)
    (0.2, 0.4)
    """
    a, b = as_corner(low), as_corner(high)
    f_lost, down = _most_losses(b.f_lost, high.f), _most_losses(b.down, high.c)
    return (
        Corner(a.f_goal, f_lost, b.up, a.down, b.won_0, a.lost_0, a.won_1, b.lost_1),
        Corner(b.f_goal, a.f_lost, a.up, down, a.won_0, b.lost_0, b.won_1, a.lost_1),
    )


@inlined
def _most_losses(lost: float, total: float) -> float:
    """Return how many losses there are at most in a box, from those of its upper corner.

    On the way to a total, wins are rounded by one unit in its last place at most; the sums that
    make the upper corner, and the difference, by two more. Where losses are a thousandth of the
    total or more, that is relatively less than claims about boxes allow for anyway.
    """
    return max(lost, (1.0 - 2.0**-40) * lost + ROUNDING * total)


@kernel
def initial_counters(f_goal: float, c_up: float) -> Counters:
    """Return the counters before round 1, as if each action had been taken once.

    Paper: alg:GRBP
    """
    return Counters(1, 1.0, f_goal, 1.0, c_up, 0.0, 0.0, 0.0, 0.0)


@kernel
def play(goal: int, p_c: float, p_f: float, threshold: int, state: int, key: int) -> Round:
    """Play a round from a state under a threshold, step by step, with the draws of a key.

    Draw 0 of the key chose the state; each slot takes the next one.

    Paper: alg:GRBP
    """
    first, slot, f, c_up = state, 0, 0, 0
    while 0 < state < goal:
        slot += 1
        before = state
        if state <= threshold:
            f = 1
            state = next_state(state, Action.FINISH, goal, p_c, p_f, uniform(key, slot))
        else:
            state = next_state(state, Action.CONTINUE, goal, p_c, p_f, uniform(key, slot))
            c_up += state - before + 1
    won = 1 if state == goal else 0
    # A step up counted 2 and a step down 0.
    return Round(first, won, f, slot - f, c_up // 2)


def step_counts(goal: int, state: int, finish: bool, after: int) -> tuple[int, int, int, int]:
    """Return what one step adds to f, f_goal, c and c_up."""
    if finish:
        return 1, int(after == goal), 0, 0
    return 0, 0, 1, int(after > state)


@inlined
def add_to(n: Counters, threshold: int, t: Totals) -> Counters:
    """Return the counters after rounds that were all played with one threshold.

    Paper: eqn:updcounts
    """
    in_0 = 1.0 if threshold == 0 else 0.0
    in_1 = 1.0 if threshold == 1 else 0.0
    return Counters(
        n.rho + t.rounds,
        n.f + t.f,  # N_F
        n.f_goal + t.f_goal,  # N_F^G
        n.c + t.c,  # N_C
        n.c_up + t.c_up,  # N_C^u
        n.plays_0 + in_0 * t.rounds,
        n.wins_0 + in_0 * t.won,
        n.plays_1 + in_1 * t.rounds,
        n.wins_1 + in_1 * t.won,
    )


@inlined
def with_pending(n: Counters, rho: int, pending: float) -> Counters:
    """Return the counters to decide a round from, while the outcomes of others are not known yet.

    `rho` is the round's own number. FINISH that was taken and whose outcome is pending counts as
    taken, so that overlapping rounds do not explore what others are exploring already; the mean
    f_goal/f stays that of what was observed.
    """
    f = n.f + pending
    return Counters(
        rho, f, n.f_goal * (f / n.f), n.c, n.c_up, n.plays_0, n.wins_0, n.plays_1, n.wins_1
    )


@inlined
def as_totals(one: Round) -> Totals:
    """Return the totals of one round."""
    return Totals(1, one.won, one.f, one.won * one.f, one.c, one.c_up)


@kernel
def settle(n: Counters, threshold: int, one: Round) -> Counters:
    """Return the counters after a round that was played with a threshold.

    Paper: eqn:updcounts
    """
    return add_to(n, threshold, as_totals(one))
