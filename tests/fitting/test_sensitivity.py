"""Whether the answer changes without an assumption, on tables that are made for it."""

from collections.abc import Sequence

import pytest
from fits import counted
from paths import columns_of

import grbp

EVEN: Sequence[tuple[int, int]] = ((500, 1000), (500, 1000), (500, 1000))
"""Moves of CONTINUE with p_C = 1/2, so that B = 1/4 at the goal 4."""


def changes(fit: grbp.Fit, name: str) -> bool | None:
    return next(test.changes_answer for test in fit.tests if test.name == name)


@pytest.mark.parametrize(
    ("c", "expected"),
    [(EVEN, False), (((500, 1000), (950, 1000), (950, 1000)), True)],
)
def test_p_c_by_state(c: Sequence[tuple[int, int]], expected: bool) -> None:
    """In common, p_C is 0.8 and continuing right; as it is, state 1 alone is worth 0.5."""
    f = ((600, 1000), (0, 0), (0, 0))
    fit = counted(c, f)
    assert changes(fit, "p_c by state") is expected
    assert changes(fit, "p_c trend over states") is expected


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (((400, 1000), (400, 1000), (0, 0)), False),  # continuing in 2 is worth 0.5
        (((400, 1000), (900, 1000), (0, 0)), True),  # finishing in 2 is better than that
        (((100, 1000), (450, 1000), (0, 0)), True),  # finishing in 1 is not right
        (((100, 1000), (0, 0), (0, 0)), False),
    ],
)
def test_p_f_by_state(f: Sequence[tuple[int, int]], expected: bool) -> None:
    assert changes(counted(EVEN, f), "p_f by state") is expected


def fitted(*paths: str, goal: int = 3, **table: object) -> grbp.Fit:
    return grbp.fit({**columns_of(paths), **table}, goal)


def test_memory_and_cases_are_judged_by_what_was_seen() -> None:
    """Half of the moves go up, so that B = 1/3; but who goes up once goes up always."""
    fit = fitted(*["1c2c3", "1c0", "1c0"] * 40, *["1f3", "1f0", "1f0"] * 40, *["1f3"] * 20)
    # 80 moves up and 80 down; of those that went on in state 1 a third won, and FINISH won 0.43.
    assert fit.boundary is not None
    assert fit.boundary.estimate == pytest.approx(1 / 3)
    assert changes(fit, "memory") is False
    fit = fitted(*["1c2c3", "1c0"] * 40, *["2c1c0"] * 0, *["1f3", "1f0", "1f0"] * 40, *["1f3"] * 20)
    # 80 up and 40 down: B = 4/7; seen was 1/2; FINISH won 0.43, less than either.
    assert changes(fit, "memory") is False
    fit = fitted(*["1c2c3", "1c0"] * 40, *["1f3"] * 54, *["1f0"] * 46)
    # FINISH won 0.54, which is between what was seen and B.
    assert changes(fit, "memory") is True
    assert changes(fit, "cases alike") is True


def test_a_drift_is_judged_by_the_later_half() -> None:
    early, late = ["2c1c0", "1c0"] * 30, ["1c2c3", "1c2c3"] * 30
    finishes = ["1f3", "1f0"] * 30
    fit = fitted(*early, *finishes, *late, *finishes)
    # 120 up and 90 down: B = 0.42, below 1/2; but all of the later half went up.
    assert changes(fit, "p_c drift") is True
    assert changes(fit, "p_f drift") is False
    mixed = ["1c2c1c0", "1c2c3"] * 30
    fit = fitted(*mixed, *["1f3"] * 60, *mixed, *["1f0"] * 45, *["1f3"] * 15)
    # 180 up and 120 down: B = 9/19, below 75/120; but of the later half 15 of 60 won.
    assert changes(fit, "p_c drift") is False
    assert changes(fit, "p_f drift") is True


def test_a_shift_is_judged_by_the_cases_before_and_after_it() -> None:
    """Most of the cases went down; those in the middle, or at the end, all went up."""
    down, up, finishes = ["2c1c0", "1c0"] * 20, ["1c2c3"] * 30, ["1f3", "1f0", "1f0"] * 40
    # B is 0.30, below 1/3; and after the shift nearly 1, or 0.48 with what comes after it.
    for late in ([], down[:10]):
        fit = fitted(*finishes, *down, *down[:20], *up, *late)
        assert changes(fit, "p_c shift") is True
    few = fitted(*finishes, *["1c2c1c0", "1c0"] * 40, *["1c2c3"] * 5)
    # Five cases of 205 that went up at the end are too few to have an answer.
    assert changes(few, "p_c shift") is False


@pytest.mark.parametrize(("won", "by_c", "by_f"), [((60, 60), True, False), ((90, 30), True, True)])
def test_groups_are_judged_one_by_one(won: tuple[int, int], by_c: bool, by_f: bool) -> None:
    """p_C is 1/2 in all, 0.3 in one group and 0.7 in the other: B is 1/4, 0.05 and 0.6."""
    names = ("state", "action", "next_state", "count", "group")
    rows = [
        (state, "c", state + way, 30 if (way == 1) == (group == "a") else 70, group)
        for group in "ab" for state in (1, 2, 3) for way in (1, -1)
    ]  # fmt: skip
    for group, good in zip("ab", won, strict=True):
        rows += [(1, "f", 4, good, group), (1, "f", 0, 150 - good, group)]
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    fit = grbp.fit(table, 4, group="group")
    assert changes(fit, "p_c by group") is by_c
    assert changes(fit, "p_f by group") is by_f


def test_without_a_way_to_tell_there_is_no_answer() -> None:
    fit = counted(EVEN, ((0, 0),) * 3)
    assert {test.changes_answer for test in fit.tests} == {None}


@pytest.mark.parametrize("finished", [3, 12, 40])
@pytest.mark.parametrize("continued", [0, 60])
def test_what_is_open_is_judged_as_if_it_were_lost_and_as_if_it_were_won(
    finished: int, continued: int
) -> None:
    """The answer changes if it does for one of the four tables that the open cases could become."""
    seen = ["1c2c3"] * 30 + ["1c0"] * 45 + ["1f3"] * 20 + ["1f0"] * 30
    fit = fitted(*seen, *["1f"] * finished, *["1c"] * continued)
    assert fit.open.empty_next == finished + continued

    def right(*more: str) -> bool:
        one = fitted(*seen, *more)
        assert one.p_f is not None
        assert one.p_c.estimate is not None
        assert one.p_f.estimate is not None
        return one.p_f.estimate >= grbp.boundary(3, one.p_c.estimate)

    ends = [
        right(*[f"1f{end}"] * finished, *[f"1c{to}"] * continued) for end in (0, 3) for to in (0, 2)
    ]
    assert changes(fit, "open cases") is (len({right(), *ends}) > 1)
