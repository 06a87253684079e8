"""Learners that others wrote: where they are found, and what their digest covers."""

import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import grbp
from grbp.errors import InvalidInput
from grbp.learners.custom import CustomLearner, digest_of

SOURCE = '''
import functools
import math
from typing import NamedTuple

import numpy as np

import grbp
import others
from grbp import finish_is_right

LIMIT = 5
TABLE = np.array([1.0, 2.0])
NAMES = {"a": 1, "b": [1, 2]}


class Optimism(NamedTuple):
    bonus: float = 3.0


class Model:
    def __init__(self):
        self.weights = [0.25, 0.75]

    def predict(self, x):
        return x in {"p", "q"}

    @property
    def size(self):
        return 11

    @staticmethod
    def half(x):
        return x / 12


model = Model()
half = functools.partial(Model.half, 13.0)


@functools.lru_cache
def kept(x):
    return x + 14


def closing(inside):
    return lambda x: x + inside


closed = closing(15)


@grbp.kernel
def helper(x, more=16):
    return math.sqrt(x) + LIMIT + TABLE[0] + others.weight(x)


def decide(goal, constants, n, key):
    """Decide."""
    from later import weight
    model.predict("p"), model.size, kept(2), NAMES, half(), closed(1), weight
    won, tried = n.f_goal + constants.bonus, n.f + helper(2.0)
    return 1 if finish_is_right(goal, won, tried, n.c_up, n.c - n.c_up) else 0


mine = grbp.Learner("mine", decide, Optimism())


def made(problem):
    return grbp.Learner("made", decide, Optimism(17.0))


number = 18
group = Model
group.inner = mine
'''
OTHERS = "def weight(x):\n    return x + 19\n"
LATER = "def weight(x):\n    return x + 20\n"


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the modules of somebody else, which Python finds."""
    write(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    forget()


def forget() -> None:
    for name in ("mine", "others", "later"):
        sys.modules.pop(name, None)


def write(folder: Path, old: str = "", new: str = "") -> None:
    """Write the modules, one of them with one thing changed."""
    for name, source in (("mine", SOURCE), ("others", OTHERS), ("later", LATER)):
        (folder / f"{name}.py").write_text(source.replace(old, new) if old else source, "utf-8")


def found(name: str = "mine:mine") -> grbp.Learner:
    forget()
    learner = grbp.find_learner(name, 4)
    assert isinstance(learner, grbp.Learner)
    return learner


@pytest.mark.usefixtures("modules")
def test_a_learner_is_found_by_its_module_and_name() -> None:
    assert found().name == "mine:mine"
    assert found("mine:group.inner").name == "mine:group.inner"
    assert found("mine:made").constants.bonus == 17.0
    assert found("mine:mine:bonus=8").constants.bonus == 8.0
    assert found("mine:mine:bonus=8").name == "mine:mine:bonus=8"
    result = grbp.simulate(grbp.Problem(4, 0.45, 0.3), "threshold-1", 10, 2)
    assert list(result.curves) == ["threshold-1"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere:mine", "importing it failed .ModuleNotFoundError: No module named 'nowhere'"),
        ("mine:nobody", "importing it failed .AttributeError"),
        ("mine:number", "it is a int, and must be a grbp.Learner or a function that makes one"),
        ("mine:group", "importing it failed .TypeError"),
        ("broken:mine", "importing it failed .ZeroDivisionError: division by zero"),
        ("mine:mine:bonus", "after the colon there can be bonus=NUMBER"),
        ("mine:", "learner 'mine:' was asked for; there is doorstep-optimal"),
    ],
)
def test_what_cannot_be_imported_is_refused_in_one_sentence(
    name: str, words: str, modules: Path
) -> None:
    (modules / "broken.py").write_text("1 / 0\n")
    with pytest.raises(InvalidInput, match=words) as refusal:
        grbp.find_learner(name, 4)
    assert "\n" not in str(refusal.value)


def test_a_digest_stays_while_nothing_changes(modules: Path) -> None:
    before = digest_of(found())
    assert digest_of(found()) == before
    write(modules, "import functools", "# A comment, and lines that move.\n\nimport functools")
    assert digest_of(found()) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 5", "LIMIT = 6"), ("[1.0, 2.0]", "[1.0, 2.5]"), ("[1, 2]}", "[1, 3]}"),
        ("= 3.0", "= 3.5"), ("0.25", "0.26"), ('"q"', '"r"'), ("return 11", "return 12"),
        ("x / 12", "x / 13"), ("13.0", "13.5"), ("x + 14", "x - 14"),
        ("closing(15)", "closing(16)"), ("x + inside", "x - inside"), ("more=16", "more=17"),
        ("sqrt(x)", "exp(x)"), ("x + 19", "x + 21"), ("x + 20", "x + 22"),
        ("helper(2.0)", "helper(2.5)"),
        ('predict("p")', 'predict("q")'),
        ("decide, Optimism())", "decide, Optimism(), (0, 1))"),
    ],
)  # fmt: skip
def test_a_digest_changes_with_anything_that_is_read(old: str, new: str, modules: Path) -> None:
    before = digest_of(found())
    assert old in SOURCE + OTHERS + LATER
    write(modules, old, new)
    assert digest_of(found()) != before


@pytest.mark.usefixtures("modules")
def test_a_digest_is_about_what_is_read_now() -> None:
    kept = CustomLearner("mine", found())
    before = kept.digest
    vars(sys.modules["mine"])["LIMIT"] = 6
    assert kept.digest != before
    vars(sys.modules["mine"])["LIMIT"] = 5
    assert kept == CustomLearner("mine", None, before)
    assert kept != CustomLearner("mine", None, "0")
    assert len({kept, CustomLearner("mine", None, before)}) == 1


def test_what_may_have_changed_unseen_is_refused() -> None:
    lock = threading.Lock()

    def decide(_goal: int, _: Any, _n: Any, _key: int) -> int:
        return int(lock.locked())

    with pytest.raises(InvalidInput, match="it reads a lock, and there is no way to tell"):
        digest_of(grbp.Learner("locked", decide))


def test_what_reads_itself_has_a_digest() -> None:
    around: list[Any] = []
    around.append(around)

    def decide(goal: int, constants: Any, n: Any, key: int) -> int:
        return decide(goal, constants, n, key) if around else 0

    digest = digest_of(grbp.Learner("itself", decide))
    around.append(1)
    assert digest_of(grbp.Learner("itself", decide)) != digest


def late(least: int, _goal: int, _: Any, n: Any, _key: int) -> int:
    return int(n.rho > least)


class Late:
    def __init__(self, least: int) -> None:
        self.least = least

    def decide(self, goal: int, constants: Any, n: Any, key: int) -> int:
        return late(self.least, goal, constants, n, key)

    __call__ = decide


def closing(least: int) -> Any:
    return lambda goal, constants, n, key: late(least, goal, constants, n, key)


@pytest.mark.parametrize(
    "made", [lambda n: partial(late, n), Late, lambda n: Late(n).decide, closing]
)
def test_a_decision_of_any_kind_has_a_digest(made: Any) -> None:
    digests = [digest_of(grbp.Learner("late", made(least))) for least in (5, 5, 6)]
    assert digests[0] == digests[1] != digests[2]


def test_a_file_keeps_a_name_and_no_code() -> None:
    with pytest.raises(InvalidInput, match="so give the learner itself"):
        grbp.find_learner(CustomLearner("mine", None, "0"), 4)
