"""What the model takes for granted: one table, with the test of each and what follows without it.

With enough rows every assumption fails its test, and little of that matters. So each test has
beside it whether the decision would be another one without the assumption.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from grbp.fitting import model_tests
from grbp.fitting.model_tests import AssumptionTest, not_possible
from grbp.fitting.statewise import StatewiseChain
from grbp.fitting.transitions import Transitions
from grbp.numerics.arrays import Bools, Ints
from grbp.numerics.special import kolmogorov_tail
from grbp.records.clean import OPEN
from grbp.theory.posterior import Estimate
from grbp.theory.values import boundary
from grbp.worlds.dynprog import solve_many
from grbp.worlds.transition import Action

_SMALL_SIDE: Final = 0.1
"""A stretch with a smaller share of the cases than that has no answer of its own."""

_NEEDS_CASES: Final = "The rows are aggregated, and the test needs to know which belong together."


class Answers:
    """The threshold that is right by the model, and without one of its assumptions.

    It is 0 or 1; the goal where neither is right, and None where nothing can be said.

    Parameters
    ----------
    moves : Transitions
        What was recorded.
    direct : Estimate or None
        The value of continuing in state 1 as it was seen.
    chain : StatewiseChain or None
        The chain state by state.

    Attributes
    ----------
    later_half : ndarray of bool
        The rows of the second half of all cases; none where rows have no cases.
    """

    def __init__(
        self, moves: Transitions, direct: Estimate | None, chain: StatewiseChain | None
    ) -> None:
        self.moves, self.direct, self.chain = moves, direct, chain
        self.later_half: Bools = 2 * moves.records.case >= max(1, moves.records.cases)
        self.by_model = self.from_rows()

    def from_rows(self, c: Bools | bool = True, f: Bools | bool = True) -> int | None:
        """Answer with p_C, and p_F, from some of the rows alone."""
        m = self.moves
        return self.from_counts(*m.count(m.stepped & c), *m.count(m.finished & f))

    def from_counts(self, up: int, moved: int, won: int, finished: int) -> int | None:
        """Answer with p_C and p_F from counts."""
        if not moved or not finished:
            return None
        return int(won / finished >= boundary(self.moves.records.goal, up / moved))

    def by_state(self) -> int | None:
        """Answer by the chain whose states have their own chances."""
        chain = self.chain
        if chain is None or np.isnan(chain.finish[0]):
            return None
        return self._if_played(chain.action, ~np.isnan(chain.finish))

    def by_p_f_of_state(self) -> int | None:
        """Answer where p_C is common and every state has its own p_F."""
        moves, chain = self.moves, self.chain
        up, moved = moves.count(moves.stepped)
        if chain is None or not moved:
            return self.from_rows(f=moves.records.state == 1)
        states = np.arange(moves.records.goal - 1)
        law = np.zeros((1, len(states), len(states) + 2))
        law[0, states, states + 2], law[0, states, states] = up / moved, (moved - up) / moved
        action = solve_many(law, chain.p_f[None]).action[0]
        return self._if_played(action, ~np.isnan(chain.p_f))

    def _if_played(self, action: Ints, judged: Bools) -> int | None:
        """Answer as the model if some states are played as by it, and with the goal if not."""
        base, states = self.by_model, np.arange(1, self.moves.records.goal)
        if base is None:
            return None
        as_base = (action == 1) == (states <= base)
        return base if as_base[judged].all() else self.moves.records.goal

    def by_what_was_seen(self) -> int | None:
        """Compare p_F with what became of the cases that went on in state 1."""
        won, finished = self.moves.count(self.moves.finished)
        if self.direct is None or not finished:
            return None
        return int(won / finished >= self.direct.estimate)

    def around_shift(self) -> int | None:
        """Answer before or after p_C changed most, as it differs from the model if it does."""
        total = self.moves.sum_over_cases
        if total is None:
            return None
        last = int(np.abs(total).argmax())
        late: Bools = self.moves.records.case > last
        sides = [(late, len(total) - last - 1), (~late, last + 1)]
        large = [rows for rows, cases in sides if cases > _SMALL_SIDE * len(total)]
        return self._one_that_differs(self.from_rows(c=rows) for rows in large)

    def of_groups(self, answer: Callable[[Bools], int | None]) -> int | None:
        """Answer as a group that differs from all, if there is one."""
        records = self.moves.records
        return self._one_that_differs(
            answer(records.group == k) for k in range(len(records.groups))
        )

    def with_open_cases(self) -> int | None:
        """Answer as it differs if all that is open is lost, or all won."""
        records = self.moves.records
        waiting = records.next_state == OPEN
        c = int(records.count[waiting & (records.action == Action.CONTINUE)].sum())
        f = int(records.count[waiting & (records.action == Action.FINISH)].sum())
        up, moved = self.moves.count(self.moves.stepped)
        won, finished = self.moves.count(self.moves.finished)
        ends = [
            self.from_counts(up + good_c, moved + c, won + good_f, finished + f)
            for good_f in (0, f)
            for good_c in (0, c)
        ]
        return self._one_that_differs([self.by_model, *ends])

    def _one_that_differs(self, answers: Iterable[int | None]) -> int | None:
        """Return an answer that is not the model's, or else the model's if any is known."""
        known = [answer for answer in answers if answer is not None]
        others = (answer for answer in known if answer != self.by_model)
        return next(others, self.by_model) if known else None


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """What the model takes for granted, how it is tested, and what follows without it.

    Attributes
    ----------
    name : str
        A short name, by which the code knows it and tables name it.
    words : str
        What is assumed.
    broken : str
        What is the case where it does not hold.
    how : str
        The name of the test, unless the test itself says another.
    test : callable
        Makes the test; it need not say what is in this entry.
    without : callable
        Says which threshold is right without the assumption.
    needs : str
        What it is about, without which no test is possible: "cases" (rows that say to which they
        belong), or without which nobody asks: "groups" (several) or "open cases".
    chance, over : str
        If it is that a chance ("p_C" or "p_F") is the same over "states" or "groups": which, and
        over what.
    answered_by : str
        What else takes care of it, so that its failure is no doubt: "ways" (values of state 1 that
        do not assume it), "state 1" (p_F from there alone), "groups" (an answer that is
        standardised over them), or "differing groups" (which surely differ).
    """

    name: str
    words: str
    broken: str
    how: str
    test: Callable[[Transitions], AssumptionTest]
    without: Callable[[Answers], int | None]
    needs: str = ""
    chance: str = ""
    over: str = ""
    answered_by: str = ""


ASSUMPTIONS: tuple[Assumption, ...] = (
    Assumption(
        name="p_c by state", words="p_C is the same in all states",
        broken="p_C differs between states", how="Pearson",
        test=model_tests.compare_ups_of_states, without=Answers.by_state,
        chance="p_C", over="states", answered_by="ways",
    ),
    Assumption(
        name="p_c trend over states", words="p_C has no trend over the states",
        broken="p_C changes from state to state", how="Cochran-Armitage",
        test=model_tests.trend_of_ups_over_states, without=Answers.by_state,
        chance="p_C", over="states", answered_by="ways",
    ),
    Assumption(
        name="memory", words="a move does not depend on the one before",
        broken="a move depends on the one before", how="Cochran-Mantel-Haenszel",
        test=model_tests.relate_to_previous_move, without=Answers.by_what_was_seen,
        needs="cases", answered_by="ways",
    ),
    Assumption(
        name="cases alike", words="cases are alike",
        broken="cases differ from each other", how="score of the case's past residuals, one-sided",
        test=model_tests.relate_to_past_of_case, without=Answers.by_what_was_seen,
        needs="cases", answered_by="ways",
    ),
    # Groups that follow on each other look like a drift; each is asked for its own.
    Assumption(
        name="p_c drift", words="p_C does not drift from case to case",
        broken="p_C drifts from case to case", how="trend in case order, clustered by case",
        test=model_tests.trend_of_ups_over_cases,
        without=lambda answers: answers.from_rows(c=answers.later_half),
        needs="cases", answered_by="differing groups",
    ),
    Assumption(
        name="p_c shift", words="p_C does not shift at any case",
        broken="p_C shifts at some case",
        how="largest sum over cases, clustered by case (Kolmogorov)",
        test=model_tests.largest_sum_over_cases, without=Answers.around_shift,
        needs="cases", answered_by="differing groups",
    ),
    Assumption(
        name="p_f drift", words="p_F does not drift from case to case",
        broken="p_F drifts from case to case", how="trend in case order",
        test=model_tests.trend_of_wins_over_cases,
        without=lambda answers: answers.from_rows(f=answers.later_half),
        needs="cases", answered_by="differing groups",
    ),
    Assumption(
        name="p_f by state", words="p_F is the same in all states",
        broken="p_F differs between states", how="likelihood ratio",
        test=lambda moves: model_tests.compare_shares(
            moves.wins, moves.losses, "FINISH must have been tried in two states."
        ),
        without=Answers.by_p_f_of_state,
        chance="p_F", over="states", answered_by="state 1",
    ),
    Assumption(
        name="p_c by group", words="p_C is the same in all groups",
        broken="p_C differs between groups", how="likelihood ratio",
        test=lambda moves: model_tests.compare_groups(moves, Action.CONTINUE),
        without=lambda answers: answers.of_groups(lambda rows: answers.from_rows(c=rows)),
        needs="groups", chance="p_C", over="groups", answered_by="groups",
    ),
    Assumption(
        name="p_f by group", words="p_F is the same in all groups",
        broken="p_F differs between groups", how="likelihood ratio",
        test=lambda moves: model_tests.compare_groups(moves, Action.FINISH),
        without=lambda answers: answers.of_groups(lambda rows: answers.from_rows(f=rows)),
        needs="groups", chance="p_F", over="groups", answered_by="groups",
    ),
    Assumption(
        name="open cases", words="open cases are like the others",
        broken="open cases differ from the others", how="none",
        test=lambda _: not_possible("No record of open cases shows how they end."),
        without=Answers.with_open_cases, needs="open cases",
    ),
)  # fmt: skip
"""Every assumption, in the order in which tests are told."""


def assumption_tests(
    moves: Transitions, answers: Answers | None = None
) -> tuple[AssumptionTest, ...]:
    """Make every test that the records allow, and adjust the probabilities for their number.

    If there are answers, each test also says whether the answer changes without what it tests.
    """
    records, tests = moves.records, []
    has = {
        "cases": not records.aggregated,
        "groups": len(records.groups) > 1,
        "open cases": records.open_no_row > 0 or not moves.known.all(),
    }
    for entry in ASSUMPTIONS:
        lacks = not has.get(entry.needs, True)
        if lacks and entry.needs != "cases":
            continue
        test = not_possible(_NEEDS_CASES) if lacks else entry.test(moves)
        changes = None
        if answers is not None and answers.by_model is not None:
            other = entry.without(answers)
            changes = None if other is None else other != answers.by_model
        tests.append(
            replace(
                test,
                name=entry.name,
                assumption=entry.words,
                test=test.test or entry.how,
                changes_answer=changes,
            )
        )
    return holm(tests)


def find_broken(tests: Iterable[AssumptionTest], level: float) -> tuple[Assumption, ...]:
    """Return the assumptions against which the records speak."""
    names = {test.name for test in tests if test.rejected_at(level)}
    return tuple(entry for entry in ASSUMPTIONS if entry.name in names)


def holm(tests: Sequence[AssumptionTest]) -> tuple[AssumptionTest, ...]:
    """Adjust the probabilities of tests for their number (Holm 1979)."""
    made = sorted((test.p, k) for k, test in enumerate(tests) if test.p is not None)
    adjusted, largest = list(tests), 0.0
    for rank, (p, k) in enumerate(made):
        largest = max(largest, min(1.0, (len(made) - rank) * p))
        adjusted[k] = replace(tests[k], p_holm=largest)
    return tuple(adjusted)


def shift_limit(tests: Iterable[AssumptionTest], level: float) -> float:
    """Return how far from 0 the sum over cases may come before its test speaks against no shift.

    Beyond it the probability that is adjusted for all tests (Holm 1979) is below 1 - level.
    """
    others = sorted(t.p for t in tests if t.p is not None and t.name != "p_c shift")
    left = len(others) + 1
    for p in others:
        if left * p >= 1.0 - level:
            break
        left -= 1
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        less = left * kolmogorov_tail(middle) < 1.0 - level
        low, high = (low, middle) if less else (middle, high)
    return high
