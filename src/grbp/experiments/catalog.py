"""The frozen experiments: the paper's figures, and its curves followed further."""

from dataclasses import replace
from typing import Final, TypeVar

from grbp.experiments.spec import AnySpec, GridSpec, Spec
from grbp.model.problem import Problem

PRINTED_REPLICAS: Final = 200
"""The paper's number of iterations."""


S = TypeVar("S", bound=AnySpec)


def as_printed(spec: S) -> S:
    """The specification with the paper's 200 replicas.

    Paper: sec:numeric
    """
    return replace(spec, replicas=PRINTED_REPLICAS)


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

_ALL: Final = (*PAPER_LEARNERS, "no-explore")

_IN_NO_EXPLORATION: Final = Problem(4, 0.45, 0.3)

_IN_EXPLORATION: Final = Problem(4, 0.65, 0.3)

_TWENTIETHS: Final = tuple(k / 20 for k in range(1, 20))

# Ten looks a decade, every power of ten among them.
_FAR: Final = 10**9

_DECADES: Final = tuple(sorted({round(10 ** (k / 10)) for k in range(91)}))

FIGURE_3: Final = Spec("figure-3", _IN_NO_EXPLORATION, _ALL, 5000, 10_000)
"""Where the optimal policy finishes in state 1."""

FIGURE_4: Final = Spec("figure-4", _IN_EXPLORATION, _ALL, 5000, 10_000)
"""Where the optimal policy never finishes."""

FIGURE_5: Final = GridSpec("figure-5", 4, _TWENTIETHS, _TWENTIETHS, "getbe-sm", 1000, 2000)
"""The map of regret."""

GROWTH_3: Final = Spec(
    "growth-3", _IN_NO_EXPLORATION, (*GETBE, "no-explore"), _FAR, 4000, checkpoints=_DECADES
)
"""Figure 3 out to a thousand million rounds, for those who are soon sure of their mind."""

GROWTH_3_POLICIES: Final = Spec(
    "growth-3-policies", _IN_NO_EXPLORATION, PAPER_LEARNERS[3:], _FAR, 120, checkpoints=_DECADES
)
"""The same for those who are not: they change it ten thousand times."""

GROWTH_4: Final = Spec(
    "growth-4",
    _IN_EXPLORATION,
    ("getbe-sm", "getbe-ps", "ps-polselection", "no-explore"),
    _FAR,
    2000,
    checkpoints=_DECADES,
)
"""Figure 4 out to a thousand million rounds."""

GROWTH_4_UCB: Final = Spec(
    "growth-4-ucb",
    _IN_EXPLORATION,
    ("getbe-ucb", "ucb-polselection"),
    _FAR,
    120,
    checkpoints=_DECADES,
)
"""The same for those who stay where they can hardly tell."""

NEAR_BOUNDARY: Final = Spec(
    "near-boundary", Problem(4, 0.45, 0.22), ("getbe-sm",), _FAR, 4000, checkpoints=_DECADES
)
"""GETBE-SM in the region of Figure 3, nearer the boundary: there its regret plainly grows."""

EXPERIMENTS: Final[dict[str, AnySpec]] = {
    spec.name: spec
    for spec in (
        FIGURE_3,
        FIGURE_4,
        FIGURE_5,
        GROWTH_3,
        GROWTH_3_POLICIES,
        GROWTH_4,
        GROWTH_4_UCB,
        NEAR_BOUNDARY,
    )
}
"""Every experiment, by its name, in the order of running."""
