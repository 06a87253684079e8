"""The frozen experiments: the paper's figures, and its curves followed further."""

from dataclasses import replace
from functools import partial
from typing import Final

from grbp.experiments.problem_grid import ProblemGrid
from grbp.experiments.sweep_spec import SweepSpec
from grbp.learners.registry import DEFAULT_LEARNER
from grbp.worlds.problem import Problem

_curves = partial(SweepSpec, curves=True)

GETBE: Final = ("getbe-sm", "getbe-ps", "getbe-ucb")
"""The paper's three variants of GETBE."""

PAPER_LEARNERS: Final = (*GETBE, "ps-polselection", "ucb-polselection")
"""The five learners of Figures 3 and 4."""

TITLES: Final = {
    "getbe-sm": "GETBE-SM",
    "getbe-ps": "GETBE-PS",
    "getbe-ucb": "GETBE-UCB",
    "ps-polselection": "PS-PolSelection",
    "ucb-polselection": "UCB-PolSelection",
    "no-explore": "NoExplore",
}
"""The learners' names in the paper."""

_ALL: Final = (*PAPER_LEARNERS, "no-explore", DEFAULT_LEARNER)

_IN_NO_EXPLORATION: Final = Problem(4, 0.45, 0.3)

_IN_EXPLORATION: Final = Problem(4, 0.65, 0.3)

_TWENTIETHS: Final = tuple(k / 20 for k in range(1, 20))

FIGURE_3: Final = _curves("figure-3", _IN_NO_EXPLORATION, _ALL, 5000, 3000, splitting=True)
"""Figure 3, where the optimal policy finishes in state 1. Splitting sees the rare replicas that
never finish."""

FIGURE_4: Final = _curves("figure-4", _IN_EXPLORATION, _ALL, 5000, 10_000)
"""Figure 4, where the optimal policy never finishes."""

FIGURE_5: Final = SweepSpec(
    "figure-5", ProblemGrid((4,), _TWENTIETHS, _TWENTIETHS), ("getbe-sm",), 1000, 2000
)
"""Figure 5, the map of GETBE-SM's regret. The paper prints neither the goal nor the grid."""

# Ten checkpoints a decade, every power of ten among them.
_DECADES: Final = tuple(sorted({round(10 ** (k / 10)) for k in range(91)}))

_to_a_billion = partial(_curves, rounds=_DECADES)

GROWTH_3: Final = _to_a_billion(
    "growth-3", _IN_NO_EXPLORATION, (*GETBE, "no-explore"), replicas=10_000, splitting=True
)
"""Figure 3 out to a billion rounds. By then one replica in a million carries most of the mean
regret of GETBE-SM."""

GROWTH_3_OTHERS: Final = _to_a_billion(
    "growth-3-others",
    _IN_NO_EXPLORATION,
    ("ps-polselection", DEFAULT_LEARNER),
    replicas=2000,
    splitting=True,
)
"""The same for the learners that take longer."""

GROWTH_3_UCB: Final = _to_a_billion(
    "growth-3-ucb", _IN_NO_EXPLORATION, ("ucb-polselection",), replicas=120
)
"""The same for the one that takes longest: it changes its threshold ten thousand times."""

GROWTH_4: Final = _to_a_billion(
    "growth-4",
    _IN_EXPLORATION,
    ("getbe-sm", "getbe-ps", "ps-polselection", "no-explore"),
    replicas=2000,
)
"""Figure 4 out to a billion rounds."""

GROWTH_4_OTHERS: Final = _to_a_billion(
    "growth-4-others",
    _IN_EXPLORATION,
    ("getbe-ucb", "ucb-polselection", DEFAULT_LEARNER),
    replicas=120,
)
"""The same for the learners that stay long where the two thresholds hardly differ."""

_FURTHER: Final = (GROWTH_3, GROWTH_3_OTHERS, GROWTH_3_UCB, GROWTH_4, GROWTH_4_OTHERS)

EXPERIMENTS: Final = {spec.name: spec for spec in (FIGURE_3, FIGURE_4, FIGURE_5, *_FURTHER)}
"""Every experiment, by its name, in the order of running."""


def as_printed(spec: SweepSpec) -> SweepSpec:
    """Return the specification with the paper's 200 independent replicas.

    Parameters
    ----------
    spec : SweepSpec
        The specification.

    Returns
    -------
    SweepSpec

    Notes
    -----
    Paper: sec:numeric

    Examples
    --------
    >>> import grbp
    >>> grbp.experiments.as_printed(grbp.experiments.FIGURE_3).replicas
    200
    """
    return replace(spec, replicas=200, splitting=False)
