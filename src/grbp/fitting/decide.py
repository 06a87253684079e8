"""From estimates to a decision, or to why there is none, as codes and numbers.

`sentences` has the words.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, NamedTuple

from grbp.fitting.estimates import Proportion
from grbp.fitting.evidence import UNDECIDED, Evidence, Ground, disagrees, least_sure
from grbp.fitting.objections import Objection, find_objections
from grbp.theory.values import boundary

_MOST_TRIES: Final = 20
"""Beyond so many times its tries, FINISH alone is not what more records should be of."""


class Need(NamedTuple):
    """What would settle a decision.

    Attributes
    ----------
    tries : int or None
        So many more tries of FINISH would; None where no number of them does, or too many.
    times : float
        So many times as many records of both actions would.
    """

    tries: int | None
    times: float


class GroupSides(NamedTuple):
    """Which policy each group is sure of.

    Attributes
    ----------
    finish, never : dict of float
        The groups that are sure of threshold 1, and of 0, with how sure they are.
    undecided : list of str
        The other groups.
    """

    finish: dict[str, float]
    never: dict[str, float]
    undecided: list[str]


@dataclass(frozen=True, eq=False, kw_only=True)
class Judgement:
    """A decision, or why there is none.

    Attributes
    ----------
    decision : str
        "threshold-0", "threshold-1", "by-state", "by-group" or "none".
    reason : str
        A code of why it is no threshold: what the records lack (a key of `sentences.LACKING`),
        "disagreement" of the grounds, "tie", "states" or "groups" that differ.
    way : str
        The way to value state 1 that it rests on.
    firm : bool
        Whether the records are sure, and nothing speaks against it.
    probabilities : tuple of float or None
        How probable it is that the thresholds 0 and 1 are right.
    grounds : tuple of Ground
        What it rests on.
    objections : tuple of Objection
        What speaks against it, the gravest first.
    need : Need or None
        What would settle it, where it is not sure.
    sides : GroupSides or None
        Of a decision by group: which policy each is sure of.
    neither : float
        Of a decision by state: how probable it is that no threshold is right.
    """

    decision: str
    reason: str = ""
    way: str = "boundary"
    firm: bool = False
    probabilities: tuple[float, float] | None = None
    grounds: tuple[Ground, ...] = ()
    objections: tuple[Objection, ...] = ()
    need: Need | None = None
    sides: GroupSides | None = None
    neither: float = 0.0


def decide(seen: Evidence) -> Judgement:
    """Decide which policy the records speak for."""
    c = seen.p_c
    lacking = {
        "moves": not c.tries,
        "goals": not seen.goals,
        "ups": not c.successes,
        "downs": c.successes == c.tries,
        "finishes": not seen.p_f.tries,
    }
    for reason, lacks in lacking.items():
        if lacks:
            against = tuple(find_objections(seen, (), None))
            return Judgement(
                decision="none", reason=reason, way=seen.trusted[0], objections=against
            )
    grounds = seen.grounds
    least = least_sure(grounds)
    threshold = None if least is None else int(least.probability >= 0.5)
    against = tuple(find_objections(seen, grounds, threshold))
    other = None
    if least is not None and seen.differing("groups"):
        other = _decide_by_group(seen, least, against)
    if other is None and seen.differing("states"):
        other = _decide_by_state(seen, threshold, against)
    if other is not None:
        return other
    if least is None:
        return Judgement(
            decision="none", reason="disagreement", way=seen.trusted[0], grounds=grounds,
            objections=against,
        )  # fmt: skip
    for ground in grounds:
        if ground.tie:
            return Judgement(
                decision="none", reason="tie", way=ground.name, grounds=(ground,),
                objections=against,
            )  # fmt: skip
    sure = max(least.probability, 1.0 - least.probability) >= seen.level
    return Judgement(
        decision=f"threshold-{threshold}",
        firm=sure and not any(objection.grave for objection in against),
        probabilities=(1.0 - least.probability, least.probability),
        way=grounds[0].name,
        grounds=grounds,
        objections=against,
        need=None if sure else find_need(seen, least),
    )


def _decide_by_group(
    seen: Evidence, least: Ground, against: tuple[Objection, ...]
) -> Judgement | None:
    """Decide group by group where groups surely differ and do not lie on the same side."""
    whole = seen.standardized
    if whole is None or seen.right_for(int(least.probability >= 0.5)) >= seen.level:
        return None
    sides = GroupSides({}, {}, [])
    sure = {"threshold-1": sides.finish, "threshold-0": sides.never}
    for name, group in seen.groups.items():
        side = whole.sides.get(name)
        if side is None or not group.firm or group.decision not in sure:
            sides.undecided.append(name)
        else:
            sure[group.decision][name] = max(side, 1.0 - side)
    if not (sides.finish or sides.never):
        return None
    return Judgement(
        decision="by-group",
        reason="groups",
        firm=bool(sides.finish and sides.never),
        probabilities=(1.0 - least.probability, least.probability),
        way="standardized",
        objections=against,
        sides=sides,
    )


def _decide_by_state(
    seen: Evidence, threshold: int | None, against: tuple[Objection, ...]
) -> Judgement | None:
    """Decide state by state where states surely differ and no threshold is right."""
    chain = seen.chain
    if chain is None:
        return None
    neither = 1.0 - sum(chain.threshold)
    surely, belied = neither >= seen.level, seen.chain_is_belied
    disagree = threshold is not None and disagrees(seen.support, threshold)
    # Where p_F differs between states, what is right in state 1 says nothing of those above it.
    open_above = seen.in_state_1 and max(seen.support[UNDECIDED], default=1) > 1
    if not disagree and (belied or not (surely or open_above)):
        return None
    own = Objection("differing states", {"differing": seen.differing("states")})
    return Judgement(
        decision="by-state",
        reason="states",
        firm=surely and not belied,
        probabilities=chain.threshold,
        way="general",
        # What the states support is the answer, and speaks against none.
        objections=(own, *(one for one in against if one.code != "states")),
        neither=neither,
    )


def find_need(seen: Evidence, ground: Ground) -> Need:
    """Find how many more records would settle it, if the estimates stay as they are."""
    z = NormalDist().inv_cdf(0.5 + 0.5 * seen.level)
    if ground.name == "standardized":
        spread = (ground.difference.high - ground.difference.low) / (2.0 * z)
        wanted = ground.difference.estimate / NormalDist().inv_cdf(seen.level)
        return Need(None, (spread / wanted) ** 2 if wanted else math.inf)
    if ground.name == "boundary":
        variance = boundary_variance(seen.goal, seen.p_c)
    else:
        variance = ((ground.value.high - ground.value.low) / (2.0 * z)) ** 2
    return find_tries(seen.p_f, ground.value.estimate, variance, seen.level)


def find_tries(f: Proportion, value: float, variance: float, level: float) -> Need:
    """Find what would make it sure on which side of a value p_F lies.

    The value has been estimated with a variance, which more records divide; more tries of FINISH
    alone leave it as it is.
    """
    p_f = f.successes / f.tries
    of_f = max(p_f * (1.0 - p_f), 0.25 / f.tries) / f.tries
    wanted = ((p_f - value) / NormalDist().inv_cdf(level)) ** 2
    times = (of_f + variance) / wanted if wanted > 0.0 else math.inf
    tries = math.ceil(of_f * f.tries / (wanted - variance)) - f.tries if wanted > variance else 0
    return Need(tries if 0 < tries <= _MOST_TRIES * f.tries else None, times)


def boundary_variance(goal: int, c: Proportion) -> float:
    """Compute the variance of B(p_C), as far as the estimate of p_C is off."""
    p_c = c.successes / c.tries
    step = 1e-4 * min(p_c, 1.0 - p_c)
    slope = (boundary(goal, p_c + step) - boundary(goal, p_c - step)) / (2.0 * step)
    return slope * slope * p_c * (1.0 - p_c) / sum(c.counts)
