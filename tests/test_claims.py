"""The tool that repeats what documents claim: it tells a right claim from a wrong one."""

import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest

TOOL: dict[str, Any] = runpy.run_path(str(Path(__file__).parent.parent / "tools" / "claims.py"))

SOLVE = "solve --goal 4 --p-c 0.45 --p-f 0.3"
DOCUMENT = f"""# A page

```console
$ grbp {SOLVE}
{{solved}}```

```python
x = 1
print(x + 1)  # 2
print(x + 2)  # 4
```

    print(5)  # 6
"""

STAMP = "Measured with grbp 1, and `python benchmarks/{} --only a --quick` has the digest {}."
PAGE = """# A benchmark

It has no machine.

## Right

{}

| what | share |
|---|---:|
| one | 5 % |
"""


def verdicts(where: str, text: str, limit: float = 60.0) -> list[str]:
    return [TOOL["judge"](one, limit) for one in TOOL["claims"](where, text)]


def test_a_right_claim_is_verified_and_a_wrong_one_is_stale() -> None:
    words = (TOOL["sys"].executable, "-m", "grbp", *shlex.split(SOLVE))
    status, solved = TOOL["ran"](words, "", 60.0)
    assert status == 0
    right = DOCUMENT.format(solved=solved)
    assert verdicts("a.md", right) == ["verified", "verified", "stale"]
    assert verdicts("a.md", right.replace("0.45 --", "0.46 --")) == ["stale", "verified", "stale"]
    assert verdicts("a.md", right.replace("$ grbp solve", "$ grbp no"))[0] == "no command"


def test_a_claim_whose_command_takes_long_is_given_up() -> None:
    text = "```python\nimport time\ntime.sleep(60)\nprint(1)  # 1\n```\n"
    assert verdicts("a.md", text, limit=0.1) == ["took too long"]


def test_a_row_is_judged_by_the_digest_of_a_quick_run(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"x.py": (0, "  digest 0123456789ab\n"), "y.py": (1, "Traceback")}
    monkeypatch.setitem(
        TOOL["judge_row"].__globals__, "ran", lambda words, *_: said[Path(words[1]).name]
    )
    page = "benchmarks/x.md"
    assert verdicts(page, PAGE.format(STAMP.format("x.py", "0123456789ab"))) == ["verified"]
    assert verdicts(page, PAGE.format(STAMP.format("x.py", "ba9876543210"))) == ["stale"]
    assert verdicts(page, PAGE.format(STAMP.format("y.py", "0123456789ab"))) == ["no command"]
    assert verdicts(page, PAGE.format("Nobody knows.")) == ["no command"]
    assert verdicts(page, PAGE.format("Times, measured with grbp 1.")) == []
    assert verdicts("docs/x.md", PAGE.format("Nobody knows.")) == []
