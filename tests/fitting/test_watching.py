"""The alarms of a fit: those of a watch over the records, and where they are shown."""

from typing import Any

import pytest
from fits import AT_ONE, USUAL, counted

import grbp
from grbp.reports.fit_report import fit_report

BENT: Any = grbp.example_records("state", cases=400, seed=2, size=2.5)


def test_records_are_watched_in_the_order_of_their_cases() -> None:
    fit = grbp.fit(BENT, goal=4, adaptive=True)
    watch = grbp.Watch.start(4)
    for case, state, action, after in zip(
        *(BENT[name] for name in ("case", "state", "action", "next_state")), strict=True
    ):
        finish = bool(action == grbp.Action.FINISH)
        watch = watch.follow(grbp.Step(int(case), 0, int(state), finish, after > state))
    assert fit.alarms
    assert fit.alarms == watch.alarms()


def test_only_records_that_a_learner_steered_have_alarms() -> None:
    plain, steered = (grbp.fit(BENT, goal=4, adaptive=adaptive) for adaptive in (False, True))
    assert plain.alarms == ()
    assert "Alarms" not in plain.summary()
    assert "Alarms" in steered.summary()
    assert plain.tests == steered.tests


def test_an_alarm_is_named_wherever_the_fit_is_shown() -> None:
    fit = grbp.fit(BENT, goal=4, adaptive=True)
    (alarm,) = fit.alarms
    assert f"since case {alarm.case}" in alarm.sentence
    assert alarm.sentence in " ".join(fit.summary().split())
    assert alarm.sentence in fit_report(fit, {})
    assert fit.to_dict()["alarms"] == [alarm._asdict()]
    assert fit.to_frame(of="alarms")["case"].tolist() == [alarm.case]


def test_groups_that_differ_raise_an_alarm() -> None:
    table = grbp.example_records("groups", cases=800, seed=3, size=2.0)
    column = next(name for name in table if name not in BENT)
    fit = grbp.fit(table, goal=4, adaptive=True, group=column)
    assert "groups" in {alarm.name for alarm in fit.alarms}
    # Its groups are not watched apart: that would be more alarms, and more error.
    assert all(one.alarms == () for one in fit.by_group.values())


@pytest.mark.parametrize(
    ("c", "names"), [(USUAL, []), (((20, 200), (110, 240), (110, 120)), ["p_C by state"])]
)
def test_rows_without_an_order_are_looked_at_once(c: Any, names: list[str]) -> None:
    fit = counted(c, AT_ONE, adaptive=True)
    assert [alarm.name for alarm in fit.alarms] == names
    assert all(alarm.case is None for alarm in fit.alarms)
    assert "no alarm over time is possible" in fit.summary()
    assert "no alarm over time is possible" in fit_report(fit, {})


def test_records_without_an_alarm_say_so() -> None:
    fit = grbp.fit(grbp.example_records(cases=100), goal=4, adaptive=True)
    assert fit.alarms == ()
    assert "none rose" in fit.summary()
    assert "None of them rose" in fit_report(fit, {})
