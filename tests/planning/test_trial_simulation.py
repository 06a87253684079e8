"""Studies played in the engine's way and in a plain one, which shares no loop with it."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from runs import FIGURE_3, FIGURE_4, UNEVEN, all_at_once, slow_but

import grbp
from grbp.engine.recorder import first_counters
from grbp.learners.counters import (
    Counters,
    Round,
    Totals,
    add_to,
    initial_counters,
    play,
    with_pending,
)
from grbp.learners.registry import find_problem_learner
from grbp.numerics.rng import LEARNER, OPENING, OVERRULE, WORLD, fold_in, replica_key, uniform
from grbp.planning.records import NO_RECORDS
from grbp.planning.studies import StudyRuns, empty_log, play_studies
from grbp.planning.trial_simulation import Design, Log, make_study_loop
from grbp.theory.gaps import gap
from grbp.theory.posterior import Posterior
from grbp.theory.values import boundary
from grbp.worlds.transition import first_state

CASES, REPLICAS, SEED = 60, 8, 5
QUICK = {"doorstep-optimal"}
NAMES = [*QUICK, "getbe-sm", "getbe-ps", "ucb-polselection", "doorstep-kl"]


def design_of(**choices: Any) -> Design:
    usual: dict[str, Any] = {
        "overlap": 1, "late_wins": 0, "overrule": 0.0, "level": 0.95, "look_from": 1,
        "stops": False, "before": NO_RECORDS.before,
    }  # fmt: skip
    return Design(0, 0.0, 0.0, **usual | choices)


def played(problem: grbp.Problem, learner: str, cases: int = CASES, **choices: Any) -> Log:
    """A study that is looked at after every case."""
    checkpoints = np.arange(1, cases + 1)
    study = StudyRuns(learner, REPLICAS, SEED, 1)
    return play_studies(study, problem, design_of(**choices), checkpoints)


@pytest.mark.sample("*-doorstep-optimal", "problem0-getbe-ps")
@pytest.mark.parametrize("name", slow_but(QUICK, NAMES))
@pytest.mark.parametrize("problem", [FIGURE_3, FIGURE_4, UNEVEN])
def test_one_case_after_another_is_what_the_engine_walks(problem: grbp.Problem, name: str) -> None:
    log = played(problem, name)
    counters = np.zeros((REPLICAS, len(Counters._fields)))
    walked = all_at_once(
        problem, name, range(1, CASES + 1), REPLICAS, SEED, engine="walk", counters=counters
    )
    choices = find_problem_learner(name, problem).choices(problem.goal)
    thresholds = np.array(choices)[np.diff(walked.played, axis=1).argmax(axis=2)]
    assert log.threshold[:, :-1].tolist() == thresholds.tolist()
    gaps = np.array([gap(problem, threshold) for threshold in choices])
    np.testing.assert_allclose(log.lost, walked.played @ gaps, rtol=0.0, atol=1e-12)
    # The counters of the engine hold the first estimates as well, a fraction and a whole.
    ups, downs, wins, losses = log.seen[:, -1].T
    assert (counters[:, 1] - 1 == wins + losses).all()
    assert (counters[:, 3] - 1 == ups + downs).all()
    assert (np.floor(counters[:, 2]) == wins).all()
    assert (np.floor(counters[:, 4]) == ups).all()
    assert (log.taken[:, -1] == wins + losses).all()


class Plain:
    """One study in plain Python: a list of what happened, and when each part of it is told."""

    def __init__(self, problem: grbp.Problem, learner: str, replica: int, **choices: Any) -> None:
        self.problem, self.design = problem, design_of(**choices)
        found = find_problem_learner(learner, problem)
        assert isinstance(found, grbp.Learner)
        self.learner = found
        key = partial(replica_key, SEED)
        self.keys = {purpose: key(purpose, replica) for purpose in (WORLD, LEARNER, OVERRULE)}
        n = first_counters(problem.p_c, problem.p_f, False, key(OPENING, replica))
        past = self.design.before
        self.n = past._replace(rho=past.rho + 1)
        if past.f == 0.0:
            self.n = self.n._replace(f=n.f, f_goal=n.f_goal)
        if past.c == 0.0:
            self.n = self.n._replace(c=n.c, c_up=n.c_up)
        self.told: list[tuple[int, int, Totals]] = []  # when, for whom, what
        self.issued = 0
        self.lost = 0.0
        self.seen = Totals(0, 0, 0, 0, 0, 0)
        self.settled: int | None = None
        self.thresholds: list[int] = []

    def open(self, rho: int) -> int:
        """Tell what is due, look, decide."""
        if self.settled is None:
            for _, credit, totals in [one for one in self.told if one[0] == rho]:
                self.n = add_to(self.n, credit, totals)
                self.seen = Totals(*map(sum, zip(self.seen, totals, strict=True)))
            if self.design.stops and rho - 1 >= self.design.look_from:
                self.settled = self.sure()
        if self.settled is not None:
            return self.settled
        before = self.design.before
        pending = self.issued - self.seen.f
        n = with_pending(self.n, before.rho + rho, float(pending))
        return self.learner.choose(self.problem.goal, n, fold_in(self.keys[LEARNER], rho))

    def sure(self) -> int | None:
        t = self.seen
        known = Posterior(self.problem.goal, t.c_up, t.c - t.c_up, t.f_goal, t.f - t.f_goal)
        chance = known.probability
        assert abs(abs(chance - 0.5) - (self.design.level - 0.5)) > 2e-4  # no close call
        if not t.c or not t.f:
            return None
        more = t.f_goal / t.f - boundary(self.problem.goal, t.c_up / t.c)
        if chance > self.design.level:
            return 1 if more > 0.0 else None
        return 0 if 1 - chance > self.design.level and more < 0.0 else None

    def play(self, rho: int, threshold: int) -> None:
        problem, design, credit = self.problem, self.design, threshold
        if uniform(self.keys[OVERRULE], rho) < design.overrule:
            threshold, credit = (0 if threshold else 1), -1
        key = fold_in(self.keys[WORLD], rho)
        start = first_state(*problem.start_table, uniform(key, 0))
        one = play(problem.goal, problem.p_c, problem.p_f, threshold, start, key)
        self.issued += one.f
        self.lost += gap(problem, threshold)
        for later, who, part in self.parts(credit, one):
            self.told.append((rho + design.overlap + later, who, part))

    def parts(self, credit: int, one: Round) -> list[tuple[int, int, Totals]]:
        whole = Totals(1, one.won, one.f, one.f * one.won, one.c, one.c_up)
        if not (one.won and self.design.late_wins):
            return [(0, credit, whole)]
        step = 1 - one.f
        last = Totals(1, 1, one.f, one.f, step, step)
        rest = Totals(0, 0, 0, 0, one.c - step, one.c_up - step)
        return [(0, -1, rest), (self.design.late_wins, credit, last)]


@pytest.mark.slow
@pytest.mark.sample("doorstep-optimal-*")
@pytest.mark.parametrize(
    "choices",
    [
        {"overlap": 7},
        {"late_wins": 9},
        {"overrule": 0.3},
        {"overlap": 4, "late_wins": 3, "overrule": 0.2},
        {"stops": True, "level": 0.93},
        {"stops": True, "level": 0.9, "look_from": 25, "overrule": 0.1, "overlap": 2},
        {"before": Counters(40, 12.0, 5.0, 80.0, 37.0, 0.0, 0.0, 0.0, 0.0), "overlap": 3},
        {"before": Counters(40, 0.0, 0.0, 80.0, 37.0, 0.0, 0.0, 0.0, 0.0)},
    ],
)
@pytest.mark.parametrize(
    "name", slow_but(QUICK, ["doorstep-optimal", "getbe-sm", "ucb-polselection"])
)
def test_a_plain_study_gives_the_same(name: str, choices: dict[str, Any]) -> None:
    log = played(FIGURE_3, name, **choices)
    for replica in range(REPLICAS):
        plain = Plain(FIGURE_3, name, replica, **choices)
        for rho in range(1, CASES + 1):
            threshold = plain.open(rho)
            if rho > 1:
                assert log.threshold[replica, rho - 2] == threshold
                assert log.lost[replica, rho - 2] == pytest.approx(plain.lost, abs=1e-12)
                assert log.taken[replica, rho - 2] == plain.issued
                t, past = plain.seen, plain.design.before
                assert log.seen[replica, rho - 2].tolist() == [
                    t.c_up + past.c_up, t.c - t.c_up + past.c - past.c_up,
                    t.f_goal + past.f_goal, t.f - t.f_goal + past.f - past.f_goal,
                ]  # fmt: skip
            plain.play(rho, threshold)


@pytest.mark.parametrize("choices", [{}, {"overlap": 3, "late_wins": 2, "overrule": 0.2}])
def test_compiled_and_interpreted_studies_are_the_same(choices: dict[str, Any]) -> None:
    compiled = played(FIGURE_4, "doorstep-optimal", 30, **choices)
    learner = find_problem_learner("doorstep-optimal", FIGURE_4)
    assert isinstance(learner, grbp.Learner)
    log = empty_log(compiled.checkpoints, compiled.keys)
    design = design_of(**choices)._replace(goal=4, p_c=FIGURE_4.p_c, p_f=FIGURE_4.p_f)
    gaps = np.array([gap(FIGURE_4, threshold) for threshold in range(4)])
    with np.errstate(over="ignore"):
        make_study_loop(learner.decide)(learner.constants, design, FIGURE_4.start_table, gaps, log)
    for name, array in log._asdict().items():
        assert array.tolist() == getattr(compiled, name).tolist(), name


@pytest.mark.slow
@pytest.mark.parametrize("overlap", [1, 40, 400])
def test_overlapping_cases_do_not_explore_more_than_the_control_function_asks(overlap: int) -> None:
    cases = 1000
    log = played(FIGURE_4, "getbe-sm", cases, overlap=overlap)
    forced = (log.threshold == 3).sum(axis=1)
    assert (forced > 0).any()
    assert (forced <= math.ceil(15.0 * math.log(cases + 1))).all()


def test_a_late_goal_is_told_in_the_end() -> None:
    """The last goals are not told yet; all else is what it is without a delay."""
    late = played(FIGURE_3, "threshold-1", late_wins=5)
    on_time = played(FIGURE_3, "threshold-1")
    assert (late.taken == on_time.taken).all()
    missing = on_time.seen - late.seen
    assert (missing[:, :, [1, 3]] == 0).all()  # downs and losses
    assert (missing[:, :, [0, 2]].sum(axis=2) <= 5).all()
    assert missing[:, :, 2].max() > 0


def test_pending_finishes_keep_the_mean() -> None:
    n = initial_counters(0.3, 0.5)._replace(f=7.0, f_goal=2.3)
    assert with_pending(n, 9, 0.0) == n._replace(rho=9)
    more = with_pending(n, 9, 5.0)
    assert (more.rho, more.f) == (9, 12.0)
    assert more.f_goal / more.f == pytest.approx(n.f_goal / n.f)
    assert more._replace(rho=n.rho, f=n.f, f_goal=n.f_goal) == n


def test_first_sure_cases_are_those_at_which_one_is_sure() -> None:
    log = played(FIGURE_3, "doorstep-optimal", 200)
    for replica in range(REPLICAS):
        for threshold in (0, 1):
            sure = np.flatnonzero(log.sure[replica] == threshold)
            if len(sure):
                assert log.first[replica, threshold] == log.checkpoints[sure[0]]
            else:
                assert log.first[replica, threshold] > 200
    assert len({*log.first[:, 1].tolist()}) > 3


@pytest.mark.slow  # It compiles a learner that nobody keeps.
def test_an_undeclared_threshold_is_refused() -> None:
    learner = grbp.Learner("rash", lambda *_: 2, thresholds=(0, 1))
    with pytest.raises(grbp.InvalidInput, match="rash decided 2, which is not among"):
        grbp.plan(4, 0.5, 0.3, 10, learner, replicas=3)
