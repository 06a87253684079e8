"""What speaks against an answer, as codes and numbers; `sentences` has the words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from grbp.fitting.estimates import subtract
from grbp.fitting.evidence import Evidence, Ground, disagrees
from grbp.fitting.standardize import Standardized
from grbp.theory.posterior import Estimate

ABOUT_GROUPS: Final = ("groups", "uncovered", "pooled")
"""The objections to taking all groups together."""


class Objection(NamedTuple):
    """What speaks against an answer.

    Attributes
    ----------
    code : str
        What it is: a key of `sentences.OBJECTIONS`.
    facts : mapping
        The numbers and names in it.
    grave : bool
        Whether it leaves the answer unsure.
    """

    code: str
    facts: Mapping[str, Any] = {}
    grave: bool = True


def find_objections(
    seen: Evidence, grounds: Sequence[Ground], threshold: int | None
) -> Iterator[Objection]:
    """Yield what speaks against the answer, the gravest first."""
    if seen.trusted != ("boundary",):
        yield Objection("model", {"values": values_of(seen), "even": seen.ways["boundary"]}, False)
    if threshold is not None:
        first = grounds[0]
        points_to_1 = first.p_f.estimate > first.value.estimate
        of_prior = first.name != "standardized" and points_to_1 != (threshold == 1)
        if of_prior and not any(ground.tie for ground in grounds):
            yield Objection("prior")
        if seen.chain is not None and disagrees(seen.support, threshold):
            yield Objection("states", {"support": seen.support})
        if seen.among_groups is not None:
            yield from _object_to_small_group(seen, grounds, threshold, seen.among_groups)
    if grounds and seen.standardized is not None:
        yield from _object_to_pooling(seen, seen.standardized, threshold)
    if seen.broken:
        yield from _object_to_assumptions(seen)
    if seen.untried and threshold is not None:
        yield Objection("untried", {"actions": seen.untried})


def values_of(seen: Evidence) -> dict[str, Estimate]:
    """Return the values of state 1 that can be trusted, by their ways."""
    return {name: way for name in seen.trusted if (way := seen.ways[name]) is not None}


def _object_to_assumptions(seen: Evidence) -> Iterator[Objection]:
    """Yield assumptions that surely do not hold, and without which the answer is another."""
    answered = {
        "groups": seen.standardized is not None,
        "differing groups": bool(seen.differing("groups")),
        "state 1": seen.in_state_1,
        "ways": seen.trusted != ("boundary",),
    }
    changing = {test.name for test in seen.tests if test.changes_answer}
    for entry in seen.broken:
        if entry.name in changing and not answered.get(entry.answered_by, False):
            yield Objection("assumption", {"broken": entry.broken})


def _object_to_small_group(
    seen: Evidence, grounds: Sequence[Ground], threshold: int, among_groups: float
) -> Iterator[Objection]:
    """Yield that a group is not sure beside the others, if it is so by itself."""
    chances = [among_groups, *(ground.probability for ground in grounds)]
    beside, *others = chances if threshold else [1.0 - chance for chance in chances]
    if beside < seen.level <= min(others):
        yield Objection("small group", {"probability": beside})


def _object_to_pooling(
    seen: Evidence, whole: Standardized, threshold: int | None
) -> Iterator[Objection]:
    """Yield groups on another side, and where who finishes depends on the group."""
    if threshold is not None and (share := seen.right_for(threshold)) < seen.level:
        yield Objection("groups", {"differing": seen.differing("groups"), "share": share})
    depends = whole.choice_p is not None and whole.choice_p < 1.0 - seen.level
    if whole.uncovered and (depends or whole.p_f is None):
        facts = {"groups": whole.uncovered, "share": whole.uncovered_share}
        yield Objection("uncovered", facts, grave=whole.uncovered_share > 1.0 - seen.level)
    elif depends and whole.difference is not None:
        f, way = seen.p_f.as_estimate, seen.ways[seen.trusted[0]]
        pooled = Estimate(0.0, -1.0, 1.0) if f is None or way is None else subtract(f, way)
        if _misleads(pooled, whole.difference):
            facts = {"standardized": whole.difference, "pooled": pooled}
            yield Objection("pooled", facts, grave=False)


def _misleads(pooled: Estimate, standardized: Estimate) -> bool:
    """Return whether the shares over all cases say something else than standardised ones."""
    return (
        not standardized.low <= pooled.estimate <= standardized.high
        or (pooled.estimate >= 0.0) != (standardized.estimate >= 0.0)
        or (pooled.low > 0.0) != (standardized.low > 0.0)
        or (pooled.high < 0.0) != (standardized.high < 0.0)
    )
