"""Problems drawn at random, with the extremes that break careless formulas."""

from hypothesis import settings, strategies as st

from grbp import Problem, boundary

EPS = 2.0**-53


def at_most(examples: int) -> settings:
    """Draw no more examples than this for a test that takes long over one."""
    return settings(max_examples=min(examples, settings().max_examples))


EXTREMES = [
    1e-12, 1 - 1e-12, 1e-9, 1 - 1e-9, 1e-3, 0.999, 0.25, 0.75,
    0.5, 0.5 - EPS, 0.5 + 2 * EPS, 0.5 - 1e-12, 0.5 + 1e-9, 0.5 - 1e-6, 0.5 + 1e-4,
]  # fmt: skip

probabilities = st.one_of(
    st.floats(1e-12, 1 - 1e-12),
    st.sampled_from(EXTREMES),
    st.floats(0.3, 0.7),
)
"""Success probabilities, near 0, 1/2 and 1 more often than chance would have it."""

goals = st.one_of(st.integers(2, 12), st.sampled_from([50, 200, 1000]))
large_goals = st.one_of(goals, st.sampled_from([10**4, 10**5, 10**6]))


@st.composite
def problems(draw: st.DrawFn, goal: st.SearchStrategy[int] = goals) -> Problem:
    """A problem with any start distribution."""
    g = draw(goal)
    start: object = "uniform"
    kind = draw(st.sampled_from(["uniform", "point", "weights"]))
    if kind == "point":
        start = draw(st.integers(1, g - 1))
    elif kind == "weights":
        first, second = draw(st.integers(1, g - 1)), draw(st.integers(1, g - 1))
        share = draw(st.floats(0, 1))
        start = {first: share, second: 1 - share} if first != second else first
    p_c, p_f = draw(probabilities), draw(probabilities)
    if draw(st.booleans()):  # below the boundary, where finishing is never right
        p_f = boundary(g, p_c) * draw(st.floats(0.001, 0.999))
    return Problem(g, p_c, p_f, start)  # type: ignore[arg-type]
