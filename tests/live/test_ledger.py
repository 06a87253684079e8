"""What is shown as seen was observed: by group and state, drawn by nobody, decayed never."""

from collections import Counter, defaultdict
from typing import Any

import pytest
from any_study import AnyStudy
from serving import Serving

from grbp import Study
from grbp.live.schema import loads


def observe(study: Study) -> dict[str, Counter[tuple[int, str, bool]]]:
    """Count what stands in a log and counts by now, by group, in the plainest way there is."""
    steps: dict[int, list[dict[str, Any]]] = defaultdict(list)
    groups: dict[int, str] = {}
    for event in study.log(0, 1_000_000):
        said = loads(event.response)
        if event.kind == "open":
            groups[event.case] = loads(event.request).get("group", "")
        elif event.kind == "tell":
            steps[event.case].append(said)
        elif event.kind == "void" and event.step:
            steps[event.case].pop()
        elif event.kind == "mature":
            steps[event.case][event.step - 1]["counted"] = True
    seen: dict[str, Counter[tuple[int, str, bool]]] = defaultdict(Counter)
    for case, told in steps.items():
        for one in told:
            if one["counted"]:
                key = one["from"], one["took"], one["state"] > one["from"]
                seen[groups[case]][key] += 1
    return seen


def total(counts: Counter[tuple[int, str, bool]], took: str, state: int | None) -> tuple[int, int]:
    """Return how often an action was tried, and how often it succeeded, in a state or in all."""
    found = {
        well: sum(
            many
            for (at, did, good), many in counts.items()
            if did == took and good == well and state in (None, at)
        )
        for well in (False, True)
    }
    return found[False] + found[True], found[True]


@pytest.mark.parametrize("number", range(60))
@pytest.mark.sample(12)
def test_what_is_shown_as_seen_was_observed(number: int) -> None:
    ward = AnyStudy("memory", number, begin="nothing")
    for _ in ward.play(40):
        pass
    seen, status = observe(ward.study), ward.study.status()
    shown = {name: one.basis for name, one in status.by_group.items()}
    for name, basis in [("", status.basis), *shown.items()]:
        counts = seen[name] if name else sum(seen.values(), Counter())
        state = 1 if status.model != "one" else None
        assert (basis.c, basis.c_up) == total(counts, "continue", state)
        assert (basis.f, basis.f_goal) == total(counts, "finish", state)
    for basis in status.by_state:
        counts = sum(seen.values(), Counter())
        assert (basis.c, basis.c_up) == total(counts, "continue", basis.state)
        assert (basis.f, basis.f_goal) == total(counts, "finish", basis.state)


@pytest.mark.parametrize("learner", ["getbe-sm:memory=1", "getbe-sm:memory=averaged", "getbe-sm"])
@pytest.mark.parametrize("groups", [None, ["north", "south"]])
def test_nothing_is_seen_before_the_first_step(learner: str, groups: list[str] | None) -> None:
    with Study.create("memory", "ward", 4, learner, groups=groups) as study:
        for _ in range(3):
            for group in groups or [None]:  # type: ignore[list-item]
                advice = study.open_case(2, group=group)
                assert advice.basis is not None
                assert (advice.basis.f, advice.basis.c) == (0, 0)
        basis = study.status().basis
        assert (basis.f, basis.f_goal, basis.c, basis.c_up) == (0, 0, 0, 0)


def test_groups_and_a_memory_do_not_lock_the_pages(tmp_path: Any) -> None:
    with Serving(tmp_path, asking="admin") as server:
        study = Study.create(server.store, "ward", 4, groups=["north", "south"], memory=1)
        for group in ("north", "south"):
            study.open_case(2, group=group)
        for page in ("", "/cases/1", "/evidence", "/log"):
            assert server.ask("GET", f"/studies/ward{page}").status_code == 200


@pytest.mark.parametrize("goal", [63, 64, 1000])
@pytest.mark.parametrize("groups", [None, ["north", "south"]])
def test_a_large_goal_forgets_nothing_that_was_seen(goal: int, groups: list[str] | None) -> None:
    with Study.create("memory", "ward", goal, memory=1, groups=groups) as study:
        for k in range(6):
            group = groups[k % 2] if groups else None
            case = study.open_case(goal - 1, group=group).case
            study.tell(case, goal, took="finish" if k % 3 else "continue", why="so")
        status = study.status()
        assert (status.basis.f, status.basis.c) == (4, 2)
        for one in status.by_group.values():
            assert one.basis.f + one.basis.c == 3
        assert study.verify().ok
