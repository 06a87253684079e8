"""What speaks against an answer, the gravest first."""

from collections.abc import Iterator
from typing import NamedTuple

from grbp._format import begin, join_words, percent
from grbp.fitting import assumptions as a
from grbp.fitting.evidence import Evidence, say_broken, say_rejected, say_values
from grbp.fitting.grounds import Ground
from grbp.fitting.support import disagrees, say_support
from grbp.theory.posterior import Estimate


class Doubt(NamedTuple):
    """What speaks against an answer: as a sentence, and whether it leaves the answer unsure."""

    sentence: str
    takes_firmness: bool = True


def find_doubts(seen: Evidence, grounds: list[Ground], threshold: int | None) -> Iterator[Doubt]:
    """Yield what speaks against the answer, the gravest first."""
    if seen.stand != ("boundary",):
        values = [(name, way) for name in seen.stand if (way := seen.ways[name]) is not None]
        yield Doubt(
            f"Continuing from state 1 reaches the goal in {say_values(values)}, and"
            f" {say_rejected(seen)}",
            takes_firmness=False,
        )
    if threshold is not None and not any(ground.tie for ground in grounds):
        first = grounds[0]
        more = first.p_f.estimate > first.value.estimate
        if first.name != "standardized" and more != (threshold == 1):
            yield Doubt(
                "The two shares by themselves do not point that way: it is the prior, what was"
                " assumed before any record, that does."
            )
    yield from _doubt_states(seen, threshold)
    if grounds:
        yield from _doubt_small_group(seen, grounds, threshold)
        yield from _doubt_groups(seen, threshold)
    yield from _doubt_assumptions(seen)
    if seen.untried and threshold is not None:
        yield Doubt(
            f"{' and '.join(seen.untried)} {'were' if seen.untried[1:] else 'was'} never tried in"
            " state 1, so that the answer rests on what other states suggest."
        )


def _doubt_states(seen: Evidence, threshold: int | None) -> Iterator[Doubt]:
    if seen.chain is None or threshold is None:
        return
    if disagrees(seen.support, threshold):
        yield Doubt(f"State by state, the records support: {say_support(seen.support)}.")


def _doubt_assumptions(seen: Evidence) -> Iterator[Doubt]:
    """Yield assumptions that surely do not hold, and without which the answer is another."""
    done = set()
    if seen.standardized is not None:
        done |= {a.SAME_C_BY_GROUP, a.SAME_F_BY_GROUP}
    if seen.groups_differ:
        # Groups that follow on each other look like a drift; each is asked for its own.
        done |= {a.NO_DRIFT, a.NO_SHIFT, a.NO_DRIFT_F}
    if seen.in_state_1:
        done.add(a.SAME_F_BY_STATE)
    if seen.stand != ("boundary",):
        done |= {a.SAME_BY_STATE, a.TREND_BY_STATE, a.NO_MEMORY, a.CASES_ALIKE}
    for test in seen.tests:
        if test.changes_answer and test.rejected_at(seen.level) and test.assumption not in done:
            broken = begin(say_broken(test.assumption))
            yield Doubt(f"{broken}, which the model rules out; without that, the answer differs.")


def _doubt_small_group(
    seen: Evidence, grounds: list[Ground], threshold: int | None
) -> Iterator[Doubt]:
    """Yield that a group is not sure beside the others, if it is so by itself."""
    if seen.among_groups is None or threshold is None:
        return
    chances = [seen.among_groups, *(ground.probability for ground in grounds)]
    beside, *others = chances if threshold else [1.0 - one for one in chances]
    alone = min(others)
    if beside < seen.level <= alone:
        yield Doubt(
            "The group has few cases: beside what the other groups say, that is only"
            f" {percent(beside)} probable."
        )


def _doubt_groups(seen: Evidence, threshold: int | None) -> Iterator[Doubt]:
    """Yield groups on another side, and where who finishes depends on the group."""
    whole = seen.standardized
    if whole is None:
        return
    differ = seen.groups_differ
    if differ and threshold is not None and seen.right_for(threshold) < seen.level:
        yield Doubt(
            f"{begin(differ)}, and the policy is expected to be right in groups"
            f" with {percent(seen.right_for(threshold))} of the cases that stood in state 1."
        )
    depends = whole.choice_p is not None and whole.choice_p < 1.0 - seen.level
    if whole.uncovered and (depends or whole.p_f is None):
        few = whole.uncovered_share <= 1.0 - seen.level
        yield Doubt(
            f"Who finishes depends on the group: in {join_words(whole.uncovered, most=6)}, with"
            f" {percent(whole.uncovered_share)} of the cases that stood in state 1, one of the two"
            " actions was never tried there, so that nothing is compared in them.",
            takes_firmness=not few,
        )
    elif depends and whole.difference is not None and _misleads(seen, whole.difference):
        yield Doubt(
            "Who finishes depends on the group, so that the shares over all cases compare"
            " different groups: standardised over them, FINISH reaches the goal"
            f" {_say_more(whole.difference)} often than continuing from state 1, and over all"
            f" cases {_say_more(_pooled_difference(seen))} often.",
            takes_firmness=False,
        )


def _misleads(seen: Evidence, standardized: Estimate) -> bool:
    """Return whether the shares over all cases say something else than standardised ones."""
    pooled = _pooled_difference(seen)
    return (
        not standardized.low <= pooled.estimate <= standardized.high
        or (pooled.estimate >= 0.0) != (standardized.estimate >= 0.0)
        or (pooled.low > 0.0) != (standardized.low > 0.0)
        or (pooled.high < 0.0) != (standardized.high < 0.0)
    )


def _pooled_difference(seen: Evidence) -> Estimate:
    """Return p_F less the value of continuing, over all cases."""
    f, way = seen.p_f.as_estimate, seen.ways[seen.stand[0]]
    if f is None or way is None:
        return Estimate(0.0, -1.0, 1.0)
    return Ground("", f, way, 0.5).difference


def _say_more(difference: Estimate) -> str:
    points = f"{100.0 * abs(difference.estimate):.1f} points"
    return f"{points} {'more' if difference.estimate >= 0.0 else 'less'}"
