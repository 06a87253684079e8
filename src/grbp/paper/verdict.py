"""The verdict: every claim of the paper about its experiments, held against results.

Nothing is simulated here. Intervals are at 95 %, from the normal law of a mean over replicas.
How regret grows is read from its gains in successive tenfold spans of rounds: per unit of
log(T) the gain is steady where regret is logarithmic, fades where it is finite, and grows
tenfold where it is linear. A gain counts as steady if it is between half and twice the one
before, as fading if it is less than half; a slope on log(T) that surely changes by more than a
fifth from one span to the next has not settled, and is not called logarithmic yet.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Final

from grbp.experiments.catalog import GETBE, PAPER_LEARNERS, TITLES
from grbp.paper.curve_claims import (
    is_finite,
    is_linear,
    is_logarithmic,
    is_lowest,
    theorem_applies,
    threshold_is_optimal,
)
from grbp.paper.growth import DID_NOT_HOLD, HELD, UNDECIDED, Finding, Judgement, Missing, Results
from grbp.paper.map_claims import every_line_rises, regions_differ

_OUTCOMES: Final[tuple[Judgement, ...]] = (HELD, DID_NOT_HOLD, UNDECIDED)
_TERMINAL_COLUMNS: Final = 80


@dataclass(frozen=True)
class Verdict:
    """One claim of the paper and what the results say about it.

    Attributes
    ----------
    claim : str
        The claim in one line.
    where : str
        The figure of the paper; see `LEGEND`.
    outcome : {"held", "did not hold", "cannot be decided"}
    evidence : str
        The numbers, with their intervals.
    why : str
        What the numbers mean, in a sentence.

    Examples
    --------
    >>> import grbp
    >>> row = grbp.verdicts({})[0]
    >>> row.where, row.claim, row.outcome
    ('Fig. 3', 'the optimal policy is threshold 1', 'cannot be decided')
    """

    claim: str
    where: str
    outcome: Judgement
    evidence: str
    why: str

    @property
    def ours(self) -> bool:
        """Whether the paper does not make the claim, and we asked."""
        return self.where.startswith(_OURS)

    @property
    def plain(self) -> str:
        """The claim as one would say it to a student."""
        return _PLAIN.get(self.claim, self.claim)


def verdicts(results: Results) -> list[Verdict]:
    """Judge every claim of the paper about Figures 3 to 5 and NoExplore, in its order.

    Parameters
    ----------
    results : mapping of str to SweepResult
        The results by the names of their experiments. A claim whose experiment is not among
        them cannot be decided.

    Returns
    -------
    list of Verdict

    Notes
    -----
    Paper: sec:numeric
    Paper: fig:regretinf
    Paper: fig:closetobound
    Paper: fig:3D

    Examples
    --------
    >>> import tempfile
    >>> from dataclasses import replace
    >>> import grbp
    >>> spec = replace(grbp.experiments.FIGURE_4, learners=("getbe-sm",), rounds=100, replicas=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = grbp.experiments.run(spec, folder)
    >>> row = next(row for row in grbp.verdicts({"figure-4": result}) if row.where == "Fig. 4")
    >>> row.claim, row.outcome
    ('the optimal policy is threshold 0', 'held')
    """
    rows = []
    for claim, where, judge, *asked in _CLAIMS:
        try:
            finding = judge(*asked, results)
        except Missing as missing:
            finding = Finding(UNDECIDED, "no data", f"there is no {missing} among the results")
        rows.append(Verdict(claim, where, *finding))
    return rows


def tally(rows: Sequence[Verdict]) -> str:
    """Count the claims, in words, by their outcomes; and apart what we asked ourselves."""
    counted = []
    for ours, name in ((False, "claims"), (True, "questions of our own")):
        found = [row.outcome for row in rows if row.ours == ours]
        counts = [f"{found.count(o)} {o}" for o in _OUTCOMES if not ours or o in found]
        counted += [f"{len(found)} {name}: {', '.join(counts)}"] if found or not ours else []
    return "; ".join(counted)


def short_lines(rows: Iterable[Verdict]) -> list[str]:
    """Write verdicts for a terminal: every outcome, and the reason if the claim did not hold.

    Parameters
    ----------
    rows : iterable of Verdict
        The verdicts, as `verdicts` returns them.

    Returns
    -------
    list of str
        Lines of at most 80 columns; the last ones count the outcomes.

    Examples
    --------
    >>> import grbp
    >>> grbp.short_lines(grbp.verdicts({}))[-2]
    '17 claims: 0 held, 0 did not hold, 17 cannot be decided; 2 questions of our own:'
    """
    rows = list(rows)
    wide = max((len(row.where) for row in rows), default=0)
    lines = []
    for row in rows:
        head = f"{row.outcome:<{len(UNDECIDED)}}  {row.where:<{wide}}  "
        lines += _wrap(row.claim, head, " " * len(head))
        if row.outcome != HELD:
            lines += _wrap(row.why, "    ", "    ")
    return [*lines, *_wrap(LEGEND, "", ""), *_wrap(tally(rows), "", "")]


def _wrap(text: str, first: str, others: str) -> list[str]:
    return wrap(text, _TERMINAL_COLUMNS, initial_indent=first, subsequent_indent=others)


_FIG_3, _FIG_4, _FIG_5 = "Fig. 3", "Fig. 4", "Fig. 5"
_CUT_3, _CUT_4 = "Fig. 3 (cut)", "Fig. 4 (cut)"
_OURS: Final = "asked"

LEGEND: Final = (
    "(cut): the sentence stands in the source of the paper, commented out, and not in print;"
    " asked: the paper does not say so, we asked."
)
"""What the places of claims mean."""

_FINITE, _LOGARITHMIC = "{} achieves finite regret", "the regret of {} grows logarithmically"
_HIGHER = "regret is higher in the exploration region, over the whole map"
_RISES = "regret is higher beyond the boundary, on average along every line of the map"
_THEOREM_3 = "gamma = 15 is large enough for Theorem 3 to apply"

_CLAIMS: Final[list[tuple[Any, ...]]] = [
    ("the optimal policy is threshold 1", _FIG_3, threshold_is_optimal, "figure-3", 1),
    *((_FINITE.format(TITLES[name]), _FIG_3, is_finite, "figure-3", name) for name in GETBE),
    *(
        (_LOGARITHMIC.format(TITLES[name]), _FIG_3, is_logarithmic, "figure-3", name)
        for name in PAPER_LEARNERS[3:]
    ),
    ("the regret of NoExplore grows linearly", _CUT_3, is_linear, "figure-3", "no-explore"),
    ("the optimal policy is threshold 0", _FIG_4, threshold_is_optimal, "figure-4", 0),
    *(
        (_LOGARITHMIC.format(TITLES[name]), _FIG_4, is_logarithmic, "figure-4", name)
        for name in PAPER_LEARNERS
    ),
    ("GETBE-PS achieves the lowest regret", _FIG_4, is_lowest, "figure-4", "getbe-ps"),
    (_FINITE.format("NoExplore"), _CUT_4, is_finite, "figure-4", "no-explore"),
    (_HIGHER, _FIG_5, regions_differ, "figure-5"),
    (_RISES, _FIG_5, every_line_rises, "figure-5"),
    (_THEOREM_3, f"{_OURS} of Fig. 3", theorem_applies, "figure-3"),
    (_THEOREM_3, f"{_OURS} of Fig. 4", theorem_applies, "figure-4"),
]
"""Each claim, where the paper makes it, its judge and what that is asked about."""

_PLAIN: Final = {
    "the optimal policy is threshold 1": "It is best to finish one step from the dead end.",
    "the optimal policy is threshold 0": "It is best never to finish.",
    **{
        _FINITE.format(name): f"{name} stops losing: it has found out what is best."
        for name in TITLES.values()
    },
    **{
        _LOGARITHMIC.format(name): f"{name} goes on losing, but ever more slowly: ten times as"
        " many rounds cost about the same again."
        for name in TITLES.values()
    },
    "the regret of NoExplore grows linearly": "NoExplore goes on losing, always at the same pace.",
    "GETBE-PS achieves the lowest regret": "Of the paper's five learners, GETBE-PS loses least.",
    _HIGHER: "Learning costs more where it is best never to finish.",
    _RISES: "Along every line of the map, learning costs more beyond the boundary.",
    _THEOREM_3: "The paper's guarantee (Theorem 3) covers the constant that this figure uses.",
}
"""The claims as one would say them to a student."""
