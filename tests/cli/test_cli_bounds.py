"""What `grbp solve --bounds` says about the gamma that keeps the regret of GETBE-SM bounded."""

import pytest

from grbp.cli import main


@pytest.mark.parametrize(
    ("p_c", "p_f", "said"),
    [
        ("0", "0", "0  regret is bounded with any gamma"),
        ("0", "0.3", "0  regret is bounded with any gamma"),
        ("1", "1", "0  regret is bounded with any gamma"),
        ("1", "0.5", "none  no gamma bounds the regret here"),
        ("0.45", "0.3", "26.6683  regret is NOT bounded with gamma = 15"),
        ("0.45", "0.6", "2.695  regret is bounded with gamma = 15"),
    ],
)
def test_whether_gamma_is_enough_is_told(
    p_c: str, p_f: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--goal", "4", "--p-c", p_c, "--p-f", p_f, "--gamma", "15", "--rounds", "9"]
    main(["solve", "--bounds", *asked])
    (line,) = (x for x in capsys.readouterr().out.splitlines() if "gamma_bounded" in x)
    assert line.split() == ["gamma_bounded", *said.split()]
