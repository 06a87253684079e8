"""The entries of a case, one leading to the one before: steps taken back, listed, exported."""

from pathlib import Path

import pytest
from small_wards import clock_of, ward

from grbp.errors import Conflict, Damaged, ReadOnly


def test_steps_are_taken_back_one_after_another_and_told_again(tmp_path: Path) -> None:
    study = ward("threshold-0", goal=9)
    study.open_case(4)
    for state in (5, 6, 7):
        clock_of(study).add(1)
        study.tell(1, state)
    for state, since in ((6, 3), (5, 2)):
        assert study.void(1, "wrong").state == state
        assert study.cases()[0].since == study.log()[since].recorded
    clock_of(study).add(1)
    study.tell(1, 4)
    assert study.void(1, "wrong").state == 5
    assert study.void(1, "wrong").state == 4
    with pytest.raises(Conflict, match="there is none yet"):
        study.void(1, "wrong")
    assert [study.tell(1, state, step=k).state for k, state in enumerate((3, 2, 3), 1)] == [3, 2, 3]
    assert [study.tell(1, 3, step=1).state, study.tell(1, 3, step=3).event] == [3, 13]
    assert [event.seq for event in study.log(case=1)] == list(range(2, 14))
    assert [event.seq for event in study.log(5, 3, case=1)] == [6, 7, 8]
    assert study.log(case=2) == []
    steps = study.export_steps(tmp_path / "steps.csv").read_text("utf-8").splitlines()[1:]
    assert [line[:16] for line in steps] == [
        "1,1,4,continue,3",
        "1,2,3,continue,2",
        "1,3,2,continue,3",
    ]
    assert study.verify().ok


@pytest.mark.parametrize("response", ["", "{", "[]", "{}", '{"before":"x"}'])
def test_where_the_log_is_damaged_one_sentence_says_so(response: str, tmp_path: Path) -> None:
    with ward(where=tmp_path / "x.db") as study:
        study.open_case(2)
        study.tell(1, 3)
        study.open_case(2)
        connection = study._store._connection  # type: ignore[attr-defined]
        connection.execute("update events set response = ? where id % (1 << 40) = 2", (response,))
        for ask in (lambda: study.log(case=1), lambda: study.void(1, "wrong")):
            with pytest.raises(
                (Damaged, ReadOnly), match="event 2 of case 1 is missing or damaged; verify"
            ):
                ask()
        assert len(study.log()) == 4
