"""A learner of one's own, of every kind, plays in every room; and it decides the same in all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import own_learners
import pytest
from runs import one_sentence

import grbp
from grbp import Problem, Session
from grbp.env import RecordSteps
from grbp.errors import InvalidInput
from grbp.numerics.rng import WORLD, fold_in, replica_key, uniform
from grbp.theory.gaps import gap
from grbp.worlds.transition import first_state, next_state

pytestmark = pytest.mark.usefixtures("interpreted")

GOAL, ROUNDS, SEED = 4, 24, 3
EACH = tuple(range(1, ROUNDS + 1))
PROBLEM = Problem(GOAL, 0.45, 0.3)
KINDS = ("counting", "drawing", "by_state", "drawing_by_state")


class Draws:
    """A stand-in for an environment's generator: the draws of one round of the engine's world."""

    def __init__(self, key: int) -> None:
        self._key, self._index = key, -1

    def random(self) -> float:
        self._index += 1
        return uniform(self._key, self._index)


def cases(seed: int, replica: int = 0) -> Iterator[Draws]:
    """The draws of the cases that the engine's replica meets, walking."""
    world = replica_key(seed, WORLD, replica)
    return (Draws(fold_in(world, rho)) for rho in EACH)


def begin(problem: Problem, draws: Draws) -> int:
    return first_state(*problem.start_table, draws.random())


def move(problem: Problem, state: int, action: Any, draws: Draws) -> int:
    return next_state(state, action, problem.goal, problem.p_c, problem.p_f, draws.random())


def policies(
    learner: Any, problem: Problem = PROBLEM, seed: int = SEED, replica: int = 0
) -> list[Any]:
    """The policy of every case, as a session decides it: with this, all rooms are compared."""
    session, found = Session(GOAL, learner, seed, replica), []
    for draws in cases(seed, replica):
        choice = session.open_case(begin(problem, draws))
        found.append(grbp.find_learner(learner, GOAL).policy(GOAL, choice))
        while session.state is not None:
            session.tell(move(problem, session.state, session.ask(), draws))
    return found


def lost(learner: Any, problem: Problem, seed: int, replicas: int) -> Any:
    """What replicas lose on average, up to every case, by what a session decides for each."""
    played = (policies(learner, problem, seed, replica) for replica in range(replicas))
    return np.mean([np.cumsum([gap(problem, one) for one in each]) for each in played], axis=0)


def simulated(learner: Any) -> None:
    how: Any = {"checkpoints": EACH, "engine": "walk"}
    (curve,) = grbp.simulate(PROBLEM, learner, ROUNDS, 2, SEED, **how).curves.values()
    np.testing.assert_allclose(curve.mean, lost(learner, PROBLEM, SEED, 2), atol=1e-9)


def swept(spec: grbp.SweepSpec, folder: Path, learner: Any) -> None:
    """Every cell of a sweep has lost what sessions with its seed lose."""
    own = [one for one in grbp.sweep(spec, folder).cells if str(one.cell.learner) == spec.names[0]]
    assert own
    for one in own:
        wanted = lost(learner, one.cell.problem, one.cell.seed, spec.replicas)
        np.testing.assert_allclose(one.mean, wanted[np.array(spec.checkpoints) - 1], atol=1e-9)


def in_a_sweep(learner: Any, folder: Path) -> None:
    swept(grbp.SweepSpec("own", PROBLEM, (learner,), EACH, 2, SEED, "walk"), folder, learner)


def in_a_league(learner: Any, folder: Path) -> None:
    sizes: Any = ((GOAL,), 1 / 3, ROUNDS, 2, SEED, "walk")
    swept(grbp.league_spec((learner, "threshold-1"), *sizes), folder, learner)


def in_a_session_that_is_kept(learner: Any, folder: Path) -> None:
    session, found = Session(GOAL, learner, SEED), []
    for draws in cases(SEED):
        choice = session.open_case(begin(PROBLEM, draws))
        found.append(grbp.find_learner(learner, GOAL).policy(GOAL, choice))
        session = Session.load(session.save(folder / "session.json"), learner)
        while session.state is not None:
            session.tell(move(PROBLEM, session.state, session.ask(), draws))
    assert found == policies(learner)


def in_gymnasium(learner: Any, _: Path) -> None:
    made: Any = gymnasium.make("grbp.env:grbp/GamblersRuin-v0", problem=PROBLEM)
    env, session = RecordSteps(made), Session(GOAL, learner, SEED)
    env.reset(seed=0)
    for draws in cases(SEED):
        made.unwrapped.np_random = draws
        session.open_case(int(env.reset()[0]))
        while session.state is not None:
            session.tell(int(env.step(int(session.ask()))[0]))
    names = ("case", "state", "action", "next_state")
    steps = zip(*(env.columns[name].tolist() for name in names), strict=True)
    assert list(steps) == list(walked(policies(learner)))


def walked(decided: list[Any]) -> Iterator[tuple[int, int, int, int]]:
    """The steps of cases under policies; the first case of the environment is reset untouched."""
    for case, (policy, draws) in enumerate(zip(decided, cases(SEED), strict=True), 2):
        state = begin(PROBLEM, draws)
        while 0 < state < GOAL:
            before = state
            action = int(state <= policy if isinstance(policy, int) else policy[state - 1])
            state = move(PROBLEM, state, action, draws)
            yield case, before, action, state


def live(learner: Any, folder: Path) -> None:
    found, store = [], folder / "ward.db"
    grbp.Study.create(store, "ward", GOAL, learner, seed=SEED).close()
    with grbp.Study(store, learner=learner) as study:
        for case, draws in enumerate(cases(SEED), 1):
            choice, state = study.status().next_threshold, begin(PROBLEM, draws)
            action = study.open_case(state).action
            assert choice is not None
            found.append(grbp.find_learner(learner, GOAL).policy(GOAL, choice))
            while 0 < state < GOAL:
                state = move(PROBLEM, state, action, draws)
                action = study.tell(case, state).action
        assert (study.verify().ok, study.replay().decisions) == (True, ROUNDS)
    assert found == policies(learner)


ROOMS: dict[str, Any] = {
    "simulate": lambda learner, _: simulated(learner),
    "sweep": in_a_sweep,
    "league": in_a_league,
    "session": in_a_session_that_is_kept,
    "gymnasium": in_gymnasium,
    "live": live,
}


@pytest.mark.parametrize("form", ["object", "module:name"])
@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_learner_of_every_kind_decides_the_same_in_every_room(
    kind: str, room: str, form: str, tmp_path: Path
) -> None:
    learner = getattr(own_learners, kind) if form == "object" else f"own_learners:{kind}"
    ROOMS[room](learner, tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_and_its_name_are_one_learner(kind: str) -> None:
    learner, name = getattr(own_learners, kind), f"own_learners:{kind}"
    decided = policies(learner)
    assert decided == policies(name)
    assert len({str(policy) for policy in decided}) > 1  # or there was nothing to agree on
    draws = {str(policies(learner, seed=seed)) for seed in range(3)}
    assert len(draws) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_wrong_with_it_in_either_form(kind: str) -> None:
    assert grbp.check_learner(getattr(own_learners, kind)) == []
    assert grbp.check_learner(f"own_learners:{kind}") == []


# What is set beside a learner, and what cannot be.


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_sets_the_memory_of_an_object_as_of_a_name(kind: str, tmp_path: Path) -> None:
    learner, name = getattr(own_learners, kind), f"own_learners:{kind}"
    told = []
    for given, store in ((learner, tmp_path / "object.db"), (name, tmp_path / "name.db")):
        grbp.Study.create(store, "ward", GOAL, given, memory=5).close()
        with grbp.Study(store, learner=given) as study:
            assert study.read_only is None
            for case in range(1, 9):
                study.open_case(3)
                study.tell(case, 4 if case % 3 else 0, took="finish", why="so")
            assert study.replay().ok
            told.append((study.status().memory, study.status().next_threshold))
            assert study.status().learner.endswith(":memory=5")
    assert told[0] == told[1]
    assert told[0][0] == 5.0


def test_a_study_tells_an_object_how_many_cases_will_come(tmp_path: Path) -> None:
    known = grbp.find_learner("doorstep-optimal", GOAL)
    mine = grbp.Learner("mine", known.decide, known.constants, thresholds=(0, 1))
    grbp.Study.create(tmp_path / "ward.db", "ward", GOAL, mine, cases=40).close()
    with grbp.Study(tmp_path / "ward.db", learner=mine) as study:
        assert (study.read_only, study.status().planned) == (None, 40)
        assert study.status().learner == "mine:horizon=40"
    with pytest.raises(InvalidInput, match="it cannot be told how many rounds"):
        grbp.Study.create("memory", "ward", GOAL, own_learners.counting, cases=40)


def test_a_threshold_that_is_not_declared_is_refused_in_every_room(tmp_path: Path) -> None:
    rash = grbp.Learner("rash", own_learners.drift, thresholds=(0, 1))
    for room in ("simulate", "sweep", "session", "gymnasium", "live"):
        (tmp_path / room).mkdir()
        with pytest.raises(InvalidInput) as refusal:
            ROOMS[room](rash, tmp_path / room)
        said = one_sentence(refusal.value)
        assert "rash decided 3, which is not among the thresholds that it declares" in said


@pytest.mark.parametrize("form", ["object", "module:name"])
def test_no_gpu_plays_a_learner_by_state(form: str, tmp_path: Path) -> None:
    learner = own_learners.by_state if form == "object" else "own_learners:by_state"
    spec = grbp.SweepSpec("own", PROBLEM, (learner,), 10, 2, engine="walk")
    with pytest.raises(InvalidInput, match="is played by what it loses here, which no GPU") as e:
        grbp.sweep(spec, tmp_path, device="cuda")
    one_sentence(e.value)


def test_other_processes_refuse_what_they_cannot_be_sent(tmp_path: Path) -> None:
    local = grbp.Learner("local", lambda _goal, _constants, _n, _key: 0)
    spec = grbp.SweepSpec("own", PROBLEM, (local,), 10, 2, engine="walk")
    with pytest.raises(InvalidInput, match="put it into a module or leave") as e:
        grbp.sweep(spec, tmp_path, processes=2)
    one_sentence(e.value)
    assert grbp.sweep(spec, tmp_path).cells[0].mean[-1] >= 0.0
