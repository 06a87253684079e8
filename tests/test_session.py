"""One definition, three users: the engine, the Gymnasium loop and the session decide the same."""

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import grbp
from grbp import Problem
from grbp.engine.decisions import decisions
from grbp.learners.base import AnyLearner
from grbp.learners.counters import Counters
from grbp.learners.registry import LEARNERS, find_problem_learner
from grbp.numerics.rng import WORLD, fold_in, replica_key, uniform
from grbp.session import Session
from grbp.worlds.transition import finish_mask, first_state

ROUNDS = 2000


class Draws:
    """A stand-in for an environment's generator: the draws of one round of the engine's world."""

    def __init__(self, key: int) -> None:
        self._key, self._index = key, -1

    def random(self) -> float:
        self._index += 1
        return uniform(self._key, self._index)


def by_engine(problem: Problem, learner: AnyLearner, seed: int) -> list[int]:
    """The arm of every round of replica 0, as the compiled engine chose it, walking."""
    checkpoints = list(range(1, ROUNDS + 1))
    (block,) = decisions(problem, learner, checkpoints, 1, seed, engine="walk")
    each = np.diff(block.played[0], axis=0, prepend=0)
    return [learner.choices(problem.goal)[k] for k in each.argmax(axis=1)]


def by_gymnasium(problem: Problem, learner: AnyLearner, seed: int) -> list[int]:
    """The same with Gymnasium's environment and a session, event by event."""
    env: Any = gym.make(
        "grbp.env:grbp/GamblersRuin-v0",
        goal=problem.goal, p_c=problem.p_c, p_f=problem.p_f, start=problem.start,
    )  # fmt: skip
    env.reset(seed=0)
    session = Session(problem.goal, learner, seed)
    world, choices = replica_key(seed, WORLD, 0), []
    for rho in range(1, ROUNDS + 1):
        env.unwrapped.np_random = Draws(fold_in(world, rho))
        state, _ = env.reset()
        choices.append(session.open_case(int(state)))
        over = False
        while not over:
            state, _, over, _, _ = env.step(int(session.ask()))
            session.tell(int(state))
    return choices


def by_session_alone(problem: Problem, learner: AnyLearner, seed: int) -> list[int]:
    """The same without Gymnasium: cases drawn with the model's own transition."""
    session = Session(problem.goal, learner, seed)
    world, choices = replica_key(seed, WORLD, 0), []
    for rho in range(1, ROUNDS + 1):
        draws = Draws(fold_in(world, rho))
        state = first_state(*problem.start_table, draws.random())
        choices.append(session.open_case(state))
        while session.state is not None:
            state = grbp.next_state(
                state, session.ask(), problem.goal, problem.p_c, problem.p_f, draws.random()
            )
            session.tell(state)
    return choices


@pytest.mark.sample("problem0-doorstep-optimal", "problem0-getbe-*", "problem0-ucb1-policies")
@pytest.mark.slow
@pytest.mark.parametrize("name", [*LEARNERS, "threshold-2"])
@pytest.mark.parametrize(
    "problem", [Problem(4, 0.45, 0.3), Problem(5, 0.6, 0.35, start={2: 0.25, 3: 0.75})]
)
def test_all_three_decide_the_same_bit_for_bit(name: str, problem: Problem) -> None:
    learner = find_problem_learner(name, problem)
    chosen = by_engine(problem, learner, seed=5)
    assert chosen == by_gymnasium(problem, learner, seed=5)
    assert chosen == by_session_alone(problem, learner, seed=5)
    if name in ("getbe-sm", "getbe-ps", "ucb1-policies"):
        assert len(set(chosen)) > 1  # or there was nothing to agree on


def test_counters_change_only_when_a_case_is_over() -> None:
    session = Session(4, "no-explore", seed=1)
    before = session.counters
    session.open_case(3)
    session.tell(2)
    assert session.counters == before
    assert session.ask() == session.ask()
    session.tell(3)
    session.tell(4)
    after: Counters = session.counters
    assert (after.c - before.c, after.c_up - before.c_up) == (3.0, 2.0)
    assert after.rho == session.rho == 2
    assert session.state is None


def test_finishing_counts_as_finishing() -> None:
    session = Session(4, "threshold-3", seed=1)
    before: Counters = session.counters
    session.open_case(2)
    assert session.ask() == grbp.Action.FINISH
    session.tell(4)
    after: Counters = session.counters
    assert (after.f - before.f, after.f_goal - before.f_goal, after.c - before.c) == (1, 1, 0)


def test_refusals_change_nothing() -> None:
    with pytest.raises(grbp.InvalidInput, match="which are not known here"):
        Session(4, "oracle", seed=1)
    session = Session(4, "threshold-1", seed=1)
    for call in (session.ask, lambda: session.tell(1)):
        with pytest.raises(grbp.InvalidInput, match="no case is open; open one first"):
            call()
    with pytest.raises(grbp.InvalidInput, match="state = 4 was given"):
        session.open_case(4)
    session.open_case(2)
    with pytest.raises(grbp.InvalidInput, match="still open"):
        session.open_case(1)
    for state in (4, 2):
        with pytest.raises(grbp.InvalidInput, match=rf"state {state} was told after CONTINUE in"):
            session.tell(state)
    assert session.state == 2
    session.tell(1)
    with pytest.raises(grbp.InvalidInput, match=r"after FINISH in state 1; it must be 0 or 4"):
        session.tell(2)
    session.tell(0)
    assert session.rho == 2


def test_a_session_has_defaults_and_says_where_it_stands() -> None:
    session = Session(4)
    assert repr(session) == (
        "<Session(goal=4, learner='doorstep-optimal', seed=0): 0 cases over, no case open>"
    )
    assert (session.learner, session.seed) == (grbp.DEFAULT_LEARNER, 0)
    session.open_case(3)
    session.tell(4) if session.ask() == grbp.Action.CONTINUE else session.tell(0)
    session.open_case(2)
    assert repr(session).endswith(
        f"1 cases over, one open in state 2, threshold {session.threshold}>"
    )
    assert "replica=3" in repr(Session(4, replica=3))


# What was done, and not what was asked for.


def test_an_overruled_finish_counts_what_was_seen_and_no_threshold() -> None:
    session = Session(4, "threshold-1", seed=1)
    before: Counters = session.counters
    session.open_case(1)
    assert session.ask() == grbp.Action.FINISH
    session.tell(2, took="continue")  # the case goes on
    assert session.state == 2
    session.tell(3)
    session.tell(0, took=grbp.Action.FINISH)
    after: Counters = session.counters
    assert (after.f - before.f, after.f_goal - before.f_goal) == (1, 0)
    assert (after.c - before.c, after.c_up - before.c_up) == (2, 2)
    assert (after.plays_1, after.wins_1, after.plays_0) == (0, 0, 0)
    assert session.rho == after.rho == 2
    session.open_case(1)  # the next case is one like others
    session.tell(4)
    assert (session.counters.plays_1, session.counters.wins_1) == (1, 1)


def test_saying_what_was_asked_for_changes_nothing() -> None:
    one, other = Session(4, "getbe-ps", seed=3), Session(4, "getbe-ps", seed=3)
    for state in (1, 3, 2, 1):
        one.open_case(state)
        other.open_case(state)
        while one.state is not None:
            action = one.ask()
            to = 4 if action == grbp.Action.FINISH else one.state + 1
            one.tell(to)
            other.tell(to, took=action.name)
    assert one.counters == other.counters


def test_the_learner_of_policies_learns_nothing_from_what_it_did_not_choose() -> None:
    session = Session(3, "ucb1-policies", seed=0)
    session.open_case(1)
    other = grbp.Action.CONTINUE if session.ask() == grbp.Action.FINISH else grbp.Action.FINISH
    session.tell(0, took=other)
    assert session.counters.plays.sum() == 0
    assert session.rho == 2


def test_an_abandoned_case_is_no_round() -> None:
    session = Session(4, "getbe-ps", seed=2)
    before: Counters = session.counters
    session.open_case(2)
    steps = 0
    while session.ask() == grbp.Action.CONTINUE and steps < 3:
        session.tell(3 if session.state == 2 else 2)
        steps += 1
    session.withdraw_case()
    after: Counters = session.counters
    assert steps == 3
    assert after == before._replace(c=before.c + 3, c_up=before.c_up + 2)
    assert (session.rho, session.state) == (1, None)
    with pytest.raises(grbp.InvalidInput, match="no case is open"):
        session.withdraw_case()


@pytest.mark.parametrize("took", ["stop", 1, True, None.__class__])
def test_another_action_is_refused(took: Any) -> None:
    session = Session(4, "threshold-0")
    session.open_case(2)
    with pytest.raises(grbp.InvalidInput, match="it must be 'continue' or 'finish'"):
        session.tell(3, took=took)
    with pytest.raises(grbp.InvalidInput, match="after FINISH in state 2; it must be 0 or 4"):
        session.tell(3, took="FINISH")
    assert session.state == 2


# Sessions that go on after a break.


def some_cases(session: Session, draws: Draws, count: int) -> list[int]:
    """Meet cases until so many states were told; the last case may stay open."""
    chosen = []
    for _ in range(count):
        if session.state is None:
            chosen.append(session.open_case(1 + int(3 * draws.random())))
        state = session.state
        assert state is not None
        session.tell(grbp.next_state(state, session.ask(), 4, 0.45, 0.3, draws.random()))
    return chosen


@pytest.mark.parametrize(
    "name", ["doorstep-optimal", "getbe-ps", "getbe-sm:gamma=2", "ucb1-policies"]
)
@pytest.mark.parametrize("told", [0, 7, 60])
def test_a_saved_session_goes_on_bit_for_bit(name: str, told: int, tmp_path: Path) -> None:
    session = Session(4, name, seed=2**100 + 5, replica=3)
    draws = Draws(9)
    some_cases(session, draws, told)
    again = Session.load(session.save(tmp_path / "ward.json"))
    assert repr(again) == repr(session)
    other = Draws(9)
    other._index = draws._index
    assert some_cases(again, other, 200) == some_cases(session, draws, 200)
    assert again.to_json() == session.to_json()


def patient(_goal: int, _: Any, n: Counters, _key: int) -> int:
    return 1 if n.rho > LIMIT else 0


LIMIT = 10


def test_a_learner_of_ones_own_is_given_again_and_must_be_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = grbp.Learner("patient", patient)
    text = Session(4, learner).to_json()
    with pytest.raises(grbp.InvalidInput, match="whose code is not in the file; give the learner"):
        Session.from_json(text)
    assert Session.from_json(text, learner).learner == "patient"
    with pytest.raises(grbp.InvalidInput, match="made with the learner patient; getbe-sm was"):
        Session.from_json(text, "getbe-sm")
    monkeypatch.setitem(globals(), "LIMIT", 11)
    with pytest.raises(grbp.InvalidInput, match="its source has changed since, or what it reads"):
        Session.from_json(text, learner)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "else"}, "is damaged, or is not a saved session"),
        ({"format_version": 99}, "written in format 99; this version reads format 1"),
        ({"goal": 1}, "goal = 1 was given"),
        ({"goal": None}, "goal = None was given"),
        ({"learner": "nobody"}, "learner nobody, which this version of grbp does not have"),
        ({"learner": 7}, "something is missing"),
        ({"constants": {"gamma": 14.0}}, "had the constants {'gamma': 14.0}; it has"),
        ({"seed": -1}, "seed = -1 was given"),
        ({"rho": 2}, "its counters do not fit together"),
        ({"rho": 0}, "rho = 0 was given"),
        ({"memory": [1, 2.0]}, "something is missing"),
        ({"memory": [1, "x", 0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0]}, "something is missing"),
        ({"memory": [1, 1.0, 2.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0]}, "do not fit together"),
        ({"memory": [1, 1.0, -1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0]}, "do not fit together"),
        ({"memory": [1, 1e999, 0.5, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0]}, "do not fit together"),
        ({"case": {"state": 4}}, "state = 4 was given"),
        ({"case": {"state": 2}}, "something is missing"),
        (
            {"case": {"state": 2, "threshold": 2, "counts": [2, 0, 0, 0, 0], "overruled": False}},
            "its open case cannot have come about",
        ),
        (
            {"case": {"state": 2, "threshold": 1, "counts": [2, 0, 0, 1, 2], "overruled": False}},
            "its open case cannot have come about",
        ),
    ],
)
def test_a_damaged_session_is_refused_in_one_sentence(change: dict[str, Any], words: str) -> None:
    data = json.loads(Session(4, "getbe-sm").to_json())
    with pytest.raises(grbp.InvalidInput, match=words) as refusal:
        Session.from_json(json.dumps(data | change))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("text", ["", "[]", "null", "7", "{}", "[" * 100_000])
def test_what_is_no_session_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text, "utf-8")
    with pytest.raises(grbp.InvalidInput, match="is damaged, or is not a saved session"):
        Session.load(tmp_path / "x")
    (tmp_path / "y").write_bytes(b"\xff\xfe")
    for name, words in (("nothing", "No such file"), ("y", "it is not text")):
        with pytest.raises(grbp.InvalidInput, match=words):
            Session.load(tmp_path / name)


def test_a_session_goes_on_from_counters() -> None:
    counters = grbp.Counters(101, 40.0, 30.0, 300.0, 90.0, 0.0, 0.0, 0.0, 0.0)
    session = grbp.Session(goal=4, learner="getbe-sm", counters=counters)
    assert session.counters == counters
    assert session.rho == 101
    assert session.open_case(state=1) == 1
    session.tell(0)
    assert session.counters.f == 41.0
    assert grbp.Session.from_json(session.to_json()).counters == session.counters


@pytest.mark.parametrize(
    ("learner", "counters", "sentence"),
    [
        ("ucb1-policies", grbp.Counters(2, 1, 1, 1, 1, 0, 0, 0, 0), "does not decide from"),
        ("getbe-sm", (2, 1, 1, 1, 1, 0, 0, 0, 0), "it must be Counters"),
        ("getbe-sm", grbp.Counters(2, 0, 0, 1, 1, 0, 0, 0, 0), "each action must have been taken"),
        ("getbe-sm", grbp.Counters(2, 1, 2, 1, 1, 0, 0, 0, 0), "more often than it was tried"),
        ("getbe-sm", grbp.Counters(0, 1, 1, 1, 1, 0, 0, 0, 0), "counters.rho = 0"),
        ("getbe-sm", grbp.Counters(2, 1, "x", 1, 1, 0, 0, 0, 0), "counters.f_goal = 'x'"),  # type: ignore[arg-type]
    ],
)
def test_counters_that_cannot_be_are_refused(
    learner: str, counters: grbp.Counters, sentence: str
) -> None:
    with pytest.raises(grbp.InvalidInput, match=sentence):
        grbp.Session(goal=4, learner=learner, counters=counters)


HOPS = grbp.Chain(
    4,
    grbp.Move(0.3, 0.2, 0.1, 0.1, 0.1, jumps=[[0, 0, 0.2], [0.1, 0.1, 0], [0.2, 0, 0]]),
    [0.2, 0.4, 0.6],
    start={1: 0.5, 3: 0.5},
)
FIELD_GOALS = grbp.Chain(6, grbp.Move(0.5, 0.5), [0.01, 0.02, 0.1, 0.76, 0.93])


def lost_by_session(chain: grbp.Chain, session: Session, rounds: int, seed: int) -> list[float]:
    """What a session has lost after every round, in the cases of replica 0 of the engine."""
    env: Any = gym.make("grbp.env:grbp/GamblersRuin-v0", problem=chain)
    env.reset(seed=0)
    world, lost, total = replica_key(seed, WORLD, 0), [], 0.0
    best = grbp.dynprog.solve(chain).value
    for rho in range(1, rounds + 1):
        env.unwrapped.np_random = Draws(fold_in(world, rho))
        state, _ = env.reset()
        policy = session._learner.policy(chain.goal, session.open_case(int(state)))
        actions = finish_mask(chain.goal, policy).astype(int)
        total += chain.start_mean(best - grbp.dynprog.evaluate(chain, actions).value)
        lost.append(total)
        over = False
        while not over:
            state, _, over, _, _ = env.step(int(session.ask()))
            session.tell(int(state))
            if rho % 7 == 0:
                session = Session.from_json(session.to_json())
    return lost


@pytest.mark.parametrize(
    "name",
    ["psrl", "getbe-ps", "psrl:memory=50", "psrl:memory=averaged", "getbe-ps:memory=averaged"],
)
@pytest.mark.parametrize("chain", [HOPS, FIELD_GOALS], ids=["hops", "goals"])
def test_on_a_chain_a_session_decides_as_the_engine(name: str, chain: grbp.Chain) -> None:
    rounds, seed = 200, 11
    simulated = grbp.simulate(chain, name, rounds, 1, seed, checkpoints=range(1, rounds + 1))
    lost = lost_by_session(chain, Session(chain, name, seed), rounds, seed)
    np.testing.assert_allclose(simulated.curves[name].mean, lost, rtol=0, atol=1e-10)


def test_a_session_by_state_counts_what_was_done() -> None:
    session = Session(HOPS, "psrl", seed=1)
    session.open_case(2)
    for state in (2, 1, 3):
        session.tell(state, took="continue")
    assert session.counters.rho == 1
    session.tell(4, took="finish")
    n = session.counters
    assert (n.rho, n.down.tolist(), n.won.tolist()) == (2, [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    assert n.jumps.sum() == n.jumps[0, 3] == 1.0
    session.open_case(2)
    session.tell(3, took="continue")
    session.withdraw_case()
    assert (session.rho, session.counters.up.tolist()) == (2, [0.0, 1.0, 0.0])
    assert session.to_frame().shape == (3, 5)
    assert "psrl" in repr(session)


@pytest.mark.parametrize(
    ("state", "took", "words"),
    [(3, "finish", "must be 0 or 4"), (1, "continue", "must be 0, 3 or 4"), (9, "continue", "or")],
)
def test_a_chain_says_where_an_action_can_lead(state: int, took: str, words: str) -> None:
    chain = grbp.Chain(4, grbp.Move(0.5, 0.0, windfall=0.25, catastrophe=0.25), 0.3)
    session = Session(chain, "psrl")
    session.open_case(2)
    with pytest.raises(grbp.InvalidInput, match=words):
        session.tell(state, took)
    assert (session.state, session.counters.rho) == (2, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"memory": [1, [0.0], [0.0], [0.0], [0.0], []]}, "do not fit together"),
        ({"memory": [1, *[[0.0, -1.0, 0.0]] * 4, []]}, "do not fit together"),
        ({"weights": [[0.5, 0.5], [1.0, 0.0]]}, "its memories do not fit together"),
        ({"others": []}, "its memories do not fit together"),
        ({"chain": {"goal": 5, "p_c": 0.5, "p_f": 0.3}}, "its chain does not fit its goal"),
        ({"case": {"state": 2, "threshold": 9, "counts": [], "overruled": False}}, "open case"),
    ],
)
def test_a_damaged_session_by_state_is_refused(change: dict[str, Any], words: str) -> None:
    saved = json.loads(Session(4, "psrl:memory=averaged").to_json())
    with pytest.raises(grbp.InvalidInput, match=words):
        Session.from_json(json.dumps(saved | change))


def test_a_session_takes_the_goal_of_a_problem() -> None:
    assert Session(Problem(4, 0.5, 0.3)).goal == 4
    with pytest.raises(grbp.InvalidInput, match="counters were given"):
        Session(4, "psrl", counters=Counters(1, 1.0, 0.5, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0))


def always_finish(goal: int, _: Any, _n: Any, _key: int) -> int:
    """Finish everywhere."""
    return (1 << (goal - 1)) - 1


def test_a_learner_by_state_of_ones_own_is_kept_by_its_digest() -> None:
    own = grbp.StateLearner("own", always_finish)
    session = Session(4, own)
    session.open_case(2)
    again = Session.from_json(session.to_json(), own)
    assert again.ask() == session.ask() == grbp.Action.FINISH
    with pytest.raises(grbp.InvalidInput, match="give the learner as well"):
        Session.from_json(session.to_json())
    other = grbp.StateLearner("own", lambda _goal, _constants, _n, _key: 0)
    with pytest.raises(grbp.InvalidInput, match="its source has changed since"):
        Session.from_json(session.to_json(), other)


@pytest.mark.parametrize(
    ("former", "now"), [("open", "open_case"), ("abandon", "withdraw_case"), ("memory", "counters")]
)
def test_former_names_answer_with_those_that_a_study_has(former: str, now: str) -> None:
    with pytest.raises(AttributeError, match=f"'{former}' is now: {now}"):
        getattr(Session(4), former)
    assert hasattr(Session, now)
    assert hasattr(grbp.Study, now) or now == "counters"
    with pytest.raises(AttributeError, match="'opened' is no attribute of a Session"):
        getattr(Session(4), "opened")  # noqa: B009


def test_a_session_and_a_study_share_their_verbs() -> None:
    verbs = {name for name in vars(Session) if not name.startswith("_")}
    assert verbs & {*dir(grbp.Study)} == {"open_case", "ask", "tell", "withdraw_case"}
