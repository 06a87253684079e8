"""Whatever a public function is given, it answers, or refuses it in one clear sentence."""

import inspect
import math
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, Final, Literal

import numpy as np
import pytest

import grbp
from grbp import Study
from grbp._arguments import checked
from grbp.errors import GrbpError, InvalidInput
from grbp.numerics.intervals import wilson
from grbp.numerics.jit import KERNELS
from grbp.numerics.rng import uniform
from grbp.theory.gaps import gap

PROBLEM = grbp.Problem(4, 0.45, 0.3)
CHAIN = grbp.Chain.of(PROBLEM)
DRIFT = grbp.Drift([(1, PROBLEM), (100, grbp.Problem(4, 0.65, 0.3))])
COUNTS = grbp.empty_state_counters(4)
STEP = grbp.Step(1, 0, 1, finish=False, success=True)
ROWS = "case,step,state,action,next_state\n1,1,2,0,3\n1,2,3,1,4\n2,1,1,1,0\n3,1,1,0,2\n3,2,2,1,4\n"

WRONG: Final[tuple[Any, ...]] = (
    None, "p", b"x", 0, -5, 1.5, math.nan, math.inf, 10**30, True, [], {}, (), [1], [None],
    [[1, 2], [3]], {"a": 1}, np.array([1, 2]), np.array(["a"]), object(), len,
)  # fmt: skip


def decide(*_: Any) -> int:
    """Play threshold 0."""
    return 0


def valid() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """For each function a call that is allowed, and takes a moment."""
    theory = {
        name: (getattr(grbp, name), {"problem": PROBLEM})
        for name in (
            "gamma_bounded", "gap", "gap_max", "margin", "optimal_threshold", "policy_gaps",
            "region", "regret_floor", "summary", "to_prism", "to_toy_text",
        )
    }  # fmt: skip
    with_policy = {
        name: (getattr(grbp, name), {"problem": PROBLEM, "policy": 1})
        for name in (
            "continue_probability", "continues_at", "expected_continues", "expected_slots",
            "finish_probability", "gap_at", "log_value_at", "q_at", "slots_at", "value", "value_at",
        )
    }  # fmt: skip
    intervals = {
        name: (getattr(grbp, name), {"successes": 3, "tries": 5, "level": 0.95})
        for name in ("anytime", "clopper_pearson", "jeffreys", "wilson")
    }
    quick = {"rounds": 20, "replicas": 2}
    spec = grbp.SweepSpec("tour", PROBLEM, ("threshold-1",), **quick)  # type: ignore[arg-type]
    return theory | with_policy | intervals | {
        "Chain": (grbp.Chain, {"goal": 4, "moves": grbp.Move(0.5, 0.5), "finishes": 0.3}),
        "Chain.of": (grbp.Chain.of, {"problem": PROBLEM}),
        "Drift": (grbp.Drift, {"stages": [(1, PROBLEM), (9, PROBLEM)], "shape": "linear"}),
        "Drift.path": (DRIFT.path, {"rounds": 3}),
        "Groups": (grbp.Groups, {"truths": {"a": PROBLEM}, "shares": {"a": 1.0}}),
        "Learner": (grbp.Learner, {"name": "x", "decide": decide}),
        "Posterior": (
            grbp.Posterior, {"goal": 4, "c_up": 3, "c_down": 3, "f_goal": 2, "f_lost": 1}
        ),
        "Problem": (grbp.Problem, {"goal": 4, "p_c": 0.45, "p_f": 0.3, "start": 2}),
        "Session": (grbp.Session, {"goal": 4, "learner": "threshold-1", "seed": 1}),
        "StateLearner": (grbp.StateLearner, {"name": "x", "decide": decide}),
        "SweepSpec": (
            grbp.SweepSpec,
            {"name": "x", "problems": PROBLEM, "learners": ("threshold-1",), **quick},
        ),
        "Watch.start": (grbp.Watch.start, {"goal": 4, "groups": 1, "level": 0.95}),
        "Watch.follow": (grbp.Watch.start(4, 1, 0.95).follow, {"step": STEP}),
        "Watch.take_back": (grbp.Watch.start(4, 1, 0.95).follow(STEP).take_back, {"step": STEP}),
        "add_step": (grbp.add_step, {"n": COUNTS, "state": 2, "finish": False, "after": 3}),
        "boundary": (grbp.boundary, {"goal": 4, "p_c": 0.4}),
        "check_learner": (grbp.check_learner, {"learner": grbp.Learner("x", decide), "goal": 4}),
        "dynprog.evaluate": (grbp.dynprog.evaluate, {"chain": CHAIN, "action": [1, 0, 0]}),
        "dynprog.solve": (grbp.dynprog.solve, {"chain": PROBLEM}),
        "empty_state_counters": (grbp.empty_state_counters, {"goal": 4, "jumps": False}),
        "example_records": (grbp.example_records, {"kind": "model", "cases": 5, "seed": 1}),
        "find_learner": (grbp.find_learner, {"given": "getbe-sm", "problem": 4}),
        "fit": (grbp.fit, {"records": "records.csv", "goal": 4}),
        "getbe_bound": (grbp.getbe_bound, {"problem": PROBLEM, "gamma": 3.0, "rounds": 10}),
        "getbe_with": (grbp.getbe_with, {"control": float}),
        "learner_constants": (
            grbp.learner_constants, {"learner": grbp.LEARNERS["doorstep-optimal"]}
        ),
        "league_spec": (grbp.league_spec, {"goals": (4,), "step": 0.25, **quick}),
        "plan": (
            grbp.plan,
            {"goal": 4, "p_c": 0.45, "p_f": 0.3, "cases": [5], "learner": "threshold-1",
             "replicas": 10},
        ),
        "plan_models": (
            grbp.plan_models, {"world": PROBLEM, "cases": [5], "models": ["one"], "replicas": 4}
        ),
        "round_length": (grbp.round_length, {"problem": PROBLEM, "policy": 1, "slots": 5}),
        "simulate": (grbp.simulate, {"problem": PROBLEM, "learners": "threshold-1", **quick}),
        "step_log": (grbp.step_log, {"problem": PROBLEM, "learners": "threshold-1", "rounds": 5}),
        "sweep": (grbp.sweep, {"spec": spec, "folder": "out"}),
        "ucb1_bound": (grbp.ucb1_bound, {"problem": PROBLEM, "rounds": 10}),
    }  # fmt: skip


VALID = valid()

ELSEWHERE: Final = {
    # They draw or write what another function returned, into a folder.
    "best_learner_figure", "boundary_figure", "league_figure", "paper_figure", "regret_figure",
    "regret_map_figure", "reproduce", "save_figure", "save_league", "save_simulation",
    "transition_figure", "verdicts", "short_lines",
    # They mark code of the user's.
    "kernel", "inlined",
}  # fmt: skip


def test_every_public_function_is_called_with_wrong_things() -> None:
    functions = {name for name in grbp.__all__ if isinstance(getattr(grbp, name), FunctionType)}
    # Compiled code calls a kernel as it is, so that nothing can stand before it.
    kernels = {name for name in functions if getattr(grbp, name) in KERNELS}
    assert functions - kernels - ELSEWHERE <= {*VALID}
    assert functions >= ELSEWHERE


@pytest.mark.parametrize("name", VALID)
def test_what_is_wrong_is_refused_in_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("records.csv").write_text(ROWS, "utf-8")
    function, given = VALID[name]
    function(**given)
    faults = []
    for argument in given:
        for wrong in WRONG:
            try:
                function(**given | {argument: wrong})
            except GrbpError as refusal:
                faults += [f"{argument}: {refusal}"] if "\n" in str(refusal) else []
            except Exception as error:
                faults.append(f"{argument} = {wrong!r}: {type(error).__name__}: {error}")
    assert not faults, "\n".join(faults)


def cook(meal: Literal["lunch", "dinner"], for_all: bool = True, then: Study | None = None) -> str:
    """Cook."""
    return f"{meal} {for_all} {then}"


def test_a_function_is_given_what_its_signature_says() -> None:
    guarded = checked(cook)
    assert guarded("lunch") == cook("lunch")
    assert guarded("dinner", for_all=np.bool_(False), then=None) == "dinner False None"  # type: ignore[arg-type]
    for given, said in (
        (("tea",), "meal = 'tea' was given; it must be 'lunch' or 'dinner'"),
        ((np.array(["lunch"]),), "meal = array(['lunch'], dtype='<U5') was given; it must be"),
        (("lunch", 1), "for_all = 1 was given; it must be True or False"),
        (("lunch", True, "now"), "then = 'now' was given; it must be a Study"),
    ):
        with pytest.raises(InvalidInput, match=re.escape(said)):
            guarded(*given)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'meal'"):
        guarded()  # type: ignore[call-arg]


def test_what_was_given_is_shown_in_one_line_of_some_length() -> None:
    with pytest.raises(InvalidInput) as refusal:
        grbp.gap(np.zeros((50, 50)))  # type: ignore[arg-type]
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 100


def test_a_guarded_function_is_what_it_was() -> None:
    assert pickle.loads(pickle.dumps(grbp.gap)) is grbp.gap  # noqa: S301
    assert grbp.gap.__doc__ == gap.__doc__
    assert inspect.signature(grbp.gap) == inspect.signature(gap)
    assert grbp.wilson is wilson
    assert grbp.uniform is uniform
