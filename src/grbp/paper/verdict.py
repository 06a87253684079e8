"""The verdict: every claim of the paper about its experiments, held against results.

Nothing is simulated here. An interval is at 95 %, from the normal law of a mean over replicas.
How regret grows is read from what it gains in successive tenfold spans of rounds: per unit of
log(T) that gain is steady where regret is logarithmic, fades where it is finite, and grows
tenfold where it is linear. A gain counts as steady if it is between half and twice the one
before, as fading if it is less than half; a slope on log(T) that surely changes by more than a
fifth from one span to the next has not settled, and is not called logarithmic yet.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from textwrap import wrap
from typing import Final, TypeAlias

from grbp.experiments.catalog import GETBE, PAPER_LEARNERS, TITLES
from grbp.paper.curve_claims import (
    is_finite,
    is_linear,
    is_logarithmic,
    is_lowest,
    sample_mean_is_finite,
    theorem_applies,
    threshold_is_optimal,
)
from grbp.paper.growth import (
    DID_NOT_HOLD,
    HELD,
    UNDECIDED,
    Finding,
    Judgement,
    Missing,
    Results,
)
from grbp.paper.map_claims import every_line_rises, regions_differ

TERMINAL_COLUMNS: Final = 80
"""The columns of a terminal."""


@dataclass(frozen=True)
class Verdict:
    """One claim of the paper and what the results say about it.

    claim      in one line
    where      the figure or sentence of the paper
    outcome    "held", "did not hold" or "cannot be decided"
    evidence   the numbers, with their intervals
    why        what they mean, in a sentence
    """

    claim: str
    where: str
    outcome: Judgement
    evidence: str
    why: str


Judge: TypeAlias = Callable[[Results], Finding]


def verdicts(results: Results) -> list[Verdict]:
    """A row for every claim of the paper about Figures 3 to 5 and NoExplore, in its order.

    A claim whose experiment is not among the results cannot be decided.

    Paper: sec:numeric
    Paper: fig:regretinf
    Paper: fig:closetobound
    Paper: fig:3D
    """
    rows = []
    for claim, where, judge in _CLAIMS:
        try:
            finding = judge(results)
        except Missing as missing:
            finding = Finding(UNDECIDED, "no data", f"there is no {missing} among the results")
        rows.append(Verdict(claim, where, *finding))
    return rows


def short_lines(rows: Iterable[Verdict]) -> list[str]:
    """Lines of at most 80 columns for a terminal: every outcome, and the reason if not held."""
    rows = list(rows)
    wide = max((len(row.where) for row in rows), default=0)
    lines = []
    for row in rows:
        head = f"{row.outcome:<{len(UNDECIDED)}}  {row.where:<{wide}}  "
        lines += wrap(
            row.claim, TERMINAL_COLUMNS, initial_indent=head, subsequent_indent=" " * len(head)
        )
        if row.outcome != HELD:
            lines += wrap(
                row.why, TERMINAL_COLUMNS, initial_indent="    ", subsequent_indent="    "
            )
    counts = [f"{sum(row.outcome == o for row in rows)} {o}" for o in _OUTCOMES]
    return [*lines, f"{len(rows)} claims: {', '.join(counts)}"]


_OUTCOMES: Final[tuple[Judgement, ...]] = (HELD, DID_NOT_HOLD, UNDECIDED)


_FIG_3, _FIG_4, _FIG_5 = "Fig. 3", "Fig. 4", "Fig. 5"
_CUT_3, _CUT_4 = "Fig. 3 (comment)", "Fig. 4 (comment)"

_CLAIMS: Final[tuple[tuple[str, str, Judge], ...]] = (
    ("the optimal policy is threshold 1", _FIG_3, partial(threshold_is_optimal, "figure-3", 1)),
    (
        "GETBE-SM achieves finite regret",
        _FIG_3,
        partial(sample_mean_is_finite, "figure-3", "near-boundary"),
    ),
    *(
        (
            f"{TITLES[name]} achieves finite regret",
            _FIG_3,
            partial(is_finite, "figure-3", name),
        )
        for name in GETBE[1:]
    ),
    *(
        (
            f"the regret of {TITLES[name]} grows logarithmically",
            _FIG_3,
            partial(is_logarithmic, "figure-3", name),
        )
        for name in PAPER_LEARNERS[3:]
    ),
    (
        "the regret of NoExplore grows linearly",
        _CUT_3,
        partial(is_linear, "figure-3", "no-explore"),
    ),
    (
        "gamma = 15 is large enough for Theorem 3 to apply",
        _FIG_3,
        partial(theorem_applies, "figure-3"),
    ),
    ("the optimal policy is threshold 0", _FIG_4, partial(threshold_is_optimal, "figure-4", 0)),
    *(
        (
            f"the regret of {TITLES[name]} grows logarithmically",
            _FIG_4,
            partial(is_logarithmic, "figure-4", name),
        )
        for name in PAPER_LEARNERS
    ),
    (
        "GETBE-PS achieves the lowest regret",
        _FIG_4,
        partial(is_lowest, "figure-4", "getbe-ps"),
    ),
    (
        "NoExplore achieves finite regret",
        _CUT_4,
        partial(is_finite, "figure-4", "no-explore"),
    ),
    (
        "gamma = 15 is large enough for Theorem 3 to apply",
        _FIG_4,
        partial(theorem_applies, "figure-4"),
    ),
    (
        "regret is higher in the exploration region, over the whole map",
        _FIG_5,
        partial(regions_differ, "figure-5"),
    ),
    (
        "regret rises across the boundary, along every line of the map",
        _FIG_5,
        partial(every_line_rises, "figure-5"),
    ),
)
"""Each claim, where the paper makes it (a comment is in its source, not in print), its judge."""
