"""Plan a study: play it many times under every plausible truth, and say what to expect."""

import math
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from grbp._progress import Progress, ProgressLike, as_progress
from grbp.errors import InvalidInput
from grbp.learners.registry import (
    DEFAULT_LEARNER,
    LearnerLike,
    find_learner,
    lacks_horizon,
    with_horizon,
)
from grbp.numerics.arrays import Ints
from grbp.planning.operating_characteristics import Needed, summarize_truth
from grbp.planning.records import Past, read_past
from grbp.planning.result import Plan
from grbp.planning.sample_size import Target, find_needed
from grbp.planning.studies import StudyRuns, play_studies
from grbp.planning.trial_simulation import Design
from grbp.worlds.problem import Problem
from grbp.worlds.start import StartLike
from grbp.worlds.validation import as_seed, check_count, check_probability, check_whole

if TYPE_CHECKING:
    from grbp.worlds.validation import SeedLike

RangeLike = float | Sequence[float]
"""A probability, or (low, high), or (low, high, number of points)."""

CASES: Final = (200, 500, 2000)
REPLICAS: Final = 2000
LEVEL: Final = 0.95
"""What is planned by default."""

_LARGEST_GOAL: Final = 100_000
"""The largest goal: a case takes up to the square of it in steps, and each is taken."""

_MOST_CASES: Final = 10**6
_MOST_REPLICAS: Final = 10**5
_MOST_POINTS: Final = 101

_CURVE: Final = 24
"""Numbers of cases, beside those asked about, between which a curve is drawn."""


class _Asked(NamedTuple):
    """What was asked about, of all cases or of those of a group."""

    goal: int
    p_c: RangeLike | None
    p_f: RangeLike | None
    cases: tuple[int, ...] | None
    start: StartLike | None
    study: StudyRuns
    design: Design
    target: Target | None
    progress: Progress | None


def plan(  # noqa: PLR0913 (each is a separate choice of the user)
    goal: int | None = None,
    p_c: RangeLike | None = None,
    p_f: RangeLike | None = None,
    cases: float | Iterable[float] | None = None,
    learner: LearnerLike | None = None,
    *,
    known: float | None = None,
    right: float | None = None,
    start: StartLike | None = None,
    overlap: float = 1,
    late_wins: float = 0,
    overrule: float = 0.0,
    stop_at: float | None = None,
    look_from: float = 1,
    records: Any = None,
    replicas: float = REPLICAS,
    seed: "SeedLike" = 0,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> Plan:
    """Say before a study how learning will go, whatever the truth in a range may be.

    A study is played many times under each truth: a learner decides one case after another and
    learns from what it is told. How often does it then play the right policy, how often is that
    known, what does learning cost, and how often is one sure of the wrong thing?

    Parameters
    ----------
    goal : int
        The state in which a case is won; with `records`, theirs by default.
    p_c, p_f : float or sequence
        The plausible probabilities: one number, or (low, high) for three evenly spaced ones, or
        (low, high, n) for n. With `records`, their intervals by default.
    cases : int or sequence of int
        The numbers of cases to answer for, up to 1,000,000: by default 200, 500 and 2,000, or with
        `known` or `right` as many as the hardest truth needs.
    learner : str or Learner, optional
        The learner, by default "doorstep-optimal"; `find_learner` says what else is one. It is told
        how many cases will come, the largest of `cases`, if it has a constant ``horizon`` that is
        not set; ``"doorstep-optimal:horizon=0"`` is told nothing. Nor is any learner with `known`
        or `right`, where the number of cases is what is looked for.
    known, right : float, optional
        Find the least number of cases after which this share of studies knows the right policy, or
        plays it, under each truth; `Truth.needed` has it, with the cases of a trial with two arms.
    start : str, int, mapping or sequence, optional
        The first state of a case, as in `Problem`: by default that of the records, or uniform.
    overlap : int
        How many cases are under way at once: when a case is decided, the outcomes of all up to so
        many cases before it are known.
    late_wins : int
        By how many cases later a goal is known than a loss would be.
    overrule : float
        The probability that people play a case with the other one of the thresholds 0 and 1; in
        place of a threshold above 1 they play 0.
    stop_at : float, optional
        Stop learning as soon as one policy is right with this probability, and play it from then
        on.
    look_from : int
        The case after which one looks for the first time whether one is sure; one looks after
        every case from then on.
    records : Fit, mapping or path, optional
        Past cases with which the study begins: what `fit` returned, or a file that
        ``grbp fit --json`` wrote. The numbers of cases are then of further ones. What speaks
        against the model there is in `Plan.doubts`; where groups differ, `Plan.by_group` has a plan
        for each.
    replicas : int
        How many studies of each truth are played, up to 100,000.
    seed : int, numpy.random.Generator, numpy.random.SeedSequence or None
        As in `simulate`: the same number gives the same result to the last bit.
    threads : int, optional
        The number of threads, by default one for each processor. It changes no bit.
    progress : bool or callable, optional
        As in `simulate`.

    Returns
    -------
    Plan

    Raises
    ------
    InvalidInput
        If an argument is out of range, or a probability is known neither from you nor from records.

    See Also
    --------
    simulate : Measures regret alone, for many more rounds.

    Notes
    -----
    One is sure of a policy where it is right with a probability of 95 %, or of `stop_at`, given all
    transitions that are known, the records included, and Jeffreys' priors Beta(1/2, 1/2) on p_c and
    p_f. The prior alone makes nobody sure: both actions must have been tried, and their shares must
    point to the policy. Bias and coverage are those of the estimates from the new cases alone.

    As in Algorithm 1, a learner begins with an estimate of p_c and one of p_f that are drawn evenly
    between 0 and 1, anew in each study. Each weighs as much as one try: they decide the first
    cases, and count in nothing that is said to be known. Records take their place, except that of
    an action that was never tried.

    FINISH that was taken in a case whose outcome is not known counts as taken when the learner
    decides, with the mean of what is known. An overruled case is learned from by what was done, and
    credited to no policy.

    Examples
    --------
    >>> import grbp
    >>> result = grbp.plan(4, p_c=0.5, p_f=(0.2, 0.35), cases=500, replicas=200)
    >>> [(truth.p_f, truth.right) for truth in result.truths]
    [(0.2, 0), (0.275, 1), (0.35, 1)]
    >>> after = result.truths[0].at(500)
    >>> after.plays_right.estimate > after.known.estimate
    True
    """
    past = read_past(records)
    goal = past.goal if goal is None else goal
    if past.goal not in (None, goal):
        raise InvalidInput(
            f"goal = {goal!r} was given, but the records have goal {past.goal}; leave one out"
        )
    asked = _Asked(
        check_whole("goal", goal, 2, _LARGEST_GOAL),
        p_c,
        p_f,
        None if cases is None else check_cases(cases),
        start,
        StudyRuns(
            DEFAULT_LEARNER if learner is None else learner,
            check_count("replicas", replicas, 1, _MOST_REPLICAS),
            as_seed(seed),
            (os.cpu_count() or 1) if threads is None else check_whole("threads", threads, 1, 1024),
        ),
        Design(
            goal=0, p_c=0.0, p_f=0.0,
            overlap=check_count("overlap", overlap, 1, _MOST_CASES),
            late_wins=check_count("late_wins", late_wins, 0, _MOST_CASES),
            overrule=check_probability("overrule", overrule),
            level=LEVEL if stop_at is None else _check_stop_at(stop_at),
            look_from=check_count("look_from", look_from, 1, _MOST_CASES),
            stops=stop_at is not None,
            before=past.before,
        ),
        _check_target(known, right),
        as_progress(progress),
    )  # fmt: skip
    by_group = {}
    for name, group in past.by_group.items() if past.groups_differ else ():
        # What a group never tried may lie where it does in all of them.
        of_group = group._replace(p_c=group.p_c or past.p_c, p_f=group.p_f or past.p_f)
        by_group[name] = _plan_after(of_group, asked, {})
    return _plan_after(past, asked, by_group)


def _plan_after(past: Past, asked: _Asked, by_group: dict[str, Plan]) -> Plan:
    """Plan what comes after past cases, if there are any."""
    why = "it was not given" if past.goal is None else "it was never tried in these records"
    points_c = _range_points("p_c", past.p_c if asked.p_c is None else asked.p_c, why)
    points_f = _range_points("p_f", past.p_f if asked.p_f is None else asked.p_f, why)
    start = past.start if asked.start is None else asked.start
    problems = [Problem(asked.goal, a, b, start) for a in points_c for b in points_f]
    design = asked.design._replace(before=past.before)
    study = _tell_horizon(asked, past.before.rho, problems[0])
    needed: list[Needed | None] = [None] * len(problems)
    if asked.target is not None:
        for k, problem in enumerate(problems):
            needed[k] = find_needed(study, problem, design, asked.target)
            _tell(asked, "how many cases", k + 1, len(problems))
    cases = asked.cases or _largest_needed(needed) or CASES
    checkpoints, truths = _checkpoints(cases), []
    for k, problem in enumerate(problems):
        log = play_studies(study, problem, design, checkpoints)
        truths.append(summarize_truth(problem, log, past.seen, needed[k]))
        _tell(asked, "plan", k + 1, len(problems))
    learner = find_learner(study.learner, problems[0])
    told = int(learner.constants._asdict().get("horizon", 0.0))
    return Plan(
        goal=problems[0].goal,
        start=problems[0].canonical_start,
        learner=learner.name,
        told=max(0, told - design.before.rho),
        cases=cases,
        truths=tuple(truths),
        replicas=study.replicas,
        seed=study.seed,
        level=design.level,
        overlap=design.overlap,
        late_wins=design.late_wins,
        look_from=design.look_from,
        overrule=design.overrule,
        stop_at=design.level if design.stops else None,
        past_cases=design.before.rho,
        weights=None if past.goal is None else _weigh_truths(problems, past.seen),
        target=asked.target,
        doubts=past.doubts,
        decision=past.decision,
        lost_by_state=past.lost_by_state,
        by_group=by_group,
    )


def _tell_horizon(asked: _Asked, past: int, problem: Problem) -> StudyRuns:
    """Tell the learner how many cases there will be in all, if it can be told.

    Whoever asks how many are enough does not know it yet.
    """
    study = asked.study
    if asked.target is not None or not lacks_horizon(find_learner(study.learner, problem)):
        return study
    cases = past + (asked.cases or CASES)[-1]
    return study._replace(learner=with_horizon(study.learner, cases, problem))


def _tell(asked: _Asked, what: str, done: int, total: int) -> None:
    """Tell how many truths are done, counted in studies."""
    if asked.progress is not None:
        asked.progress(what, done * asked.study.replicas, total * asked.study.replicas)


def _largest_needed(needed: Iterable[Needed | None]) -> tuple[int, ...]:
    """Return the number of cases that the hardest truth needs; nothing if none has a number."""
    numbers = [one.cases.estimate for one in needed if one and one.cases.estimate < math.inf]
    return (int(max(numbers)),) if numbers else ()


def _weigh_truths(problems: Sequence[Problem], seen: Ints) -> tuple[float, ...]:
    """Return how plausible records make each truth: the density of their posterior, in all 1."""
    ups, downs, wins, losses = seen.tolist()
    p_c, p_f = (
        np.clip([getattr(one, name) for one in problems], 1e-12, 1.0 - 1e-12)
        for name in ("p_c", "p_f")
    )
    logs = (ups - 0.5) * np.log(p_c) + (downs - 0.5) * np.log1p(-p_c)
    logs += (wins - 0.5) * np.log(p_f) + (losses - 0.5) * np.log1p(-p_f)
    weights = np.exp(logs - logs.max())
    return tuple((weights / weights.sum()).tolist())


def _range_points(name: str, given: object, why: str) -> list[float]:
    """Return the points of a range, the lowest first; say why nothing is known if it is None."""
    if given is None:
        option = f"--{name.replace('_', '-')}"
        raise InvalidInput(
            f"nothing is known about {name}, because {why}; say between which probabilities it lies"
            f" ({option} .2:.35 on the shell, {name}=(0.2, 0.35) in Python)"
        )
    if not isinstance(given, Iterable) or isinstance(given, str):
        return [check_probability(name, given)]
    parts = list(given)
    if len(parts) not in (2, 3):
        raise InvalidInput(
            f"{name} = {given!r} was given; it must be a number, (low, high) or (low, high, points)"
        )
    low, high = (check_probability(name, end) for end in parts[:2])
    count = check_count(
        f"the points of {name}", parts[2] if len(parts) == 3 else 3, 2, _MOST_POINTS
    )
    if low >= high:
        raise InvalidInput(f"{name} = {given!r} was given; the first end must be below the second")
    # In whole steps of 1e-12, so that .275 is .275.
    return [round(float(x), 12) for x in np.linspace(low, high, count)]


def check_cases(cases: object) -> tuple[int, ...]:
    """Return the numbers of cases that were asked about, in order."""
    given = cases if isinstance(cases, Iterable) and not isinstance(cases, str) else [cases]
    asked = sorted({check_count("cases", one, 1, _MOST_CASES) for one in given})
    if not asked:
        raise InvalidInput("cases = [] was given; it must be one number of cases or more")
    return tuple(asked)


def _checkpoints(asked: Sequence[int]) -> Ints:
    """Return the numbers of cases at which a study is looked at, for the curves as well."""
    last = asked[-1]
    curve = np.floor(np.geomspace(min(10, last), last, _CURVE) + 0.5).astype(np.int64)
    return np.unique([*asked, *curve.tolist()])


def _check_target(known: object, right: object) -> Target | None:
    """Return which share of studies is to know the right policy, or to play it, if any."""
    given = {name: x for name, x in (("known", known), ("right", right)) if x is not None}
    if len(given) == 2:
        raise InvalidInput(
            f"known = {known!r} and right = {right!r} were given; plan for one of them at a time"
        )
    for name, x in given.items():
        share = check_probability(name, x)
        if not 0.0 < share < 1.0:
            raise InvalidInput(
                f"{name} = {x!r} was given; it must be above 0 and below 1, such as 0.8"
            )
        return Target(name, share)
    return None


def _check_stop_at(stop_at: object) -> float:
    """Return the probability at which one stops, or refuse it."""
    level = check_probability("stop_at", stop_at)
    if not 0.5 < level < 1.0:
        raise InvalidInput(
            f"stop_at = {stop_at!r} was given; it must be above 0.5 and below 1, such as 0.95"
        )
    return level
