"""What is optional and missing or broken is left out, with a sentence that says how to get it."""

from pathlib import Path

import pytest
from optional import optional


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            "raise ImportError('libatomic.so.1: cannot open shared object file: No such file')",
            "cannot be loaded (libatomic.so.1 is missing); on Debian and Ubuntu, get that with:"
            " apt-get install libatomic1",
        ),
        (
            "raise OSError('libnss3.so: cannot open shared object file: No such file')",
            "cannot be loaded (libnss3.so is missing); on Debian and Ubuntu, get that with:"
            " apt-get install libnss3",
        ),
        (
            "raise ImportError('libz3.so.4: cannot open shared object file: No such file')",
            "cannot be loaded (libz3.so.4 is missing); on Debian and Ubuntu, get that with:"
            " apt-get install libz3-4",
        ),
        (
            "import a_part_that_nobody_has",
            "cannot be loaded (a_part_that_nobody_has is missing); get that with:"
            " .venv/bin/pip install a_part_that_nobody_has",
        ),
        (
            "raise ImportError('undefined symbol: x\\nand much more')",
            "cannot be loaded (undefined symbol: x); get it anew with:"
            " .venv/bin/pip install --force-reinstall grbp-solver",
        ),
        (
            "import grbp_solver.core",
            "cannot be loaded (No module named 'grbp_solver.core'; 'grbp_solver' is not a package);"
            " get it anew with: .venv/bin/pip install --force-reinstall grbp-solver",
        ),
        (None, "is not installed; get it with: .venv/bin/pip install grbp-solver"),
    ],
)
def test_what_is_missing_is_named_and_how_to_get_it(
    source: str | None, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    if source is not None:
        (tmp_path / "grbp_solver.py").write_text(source)
    with pytest.raises(pytest.skip.Exception) as left_out:
        optional("grbp_solver", "grbp-solver")
    assert str(left_out.value) == f"tests with grbp-solver: it {sentence}"


def test_a_fault_of_a_module_is_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "grbp_solver.py").write_text("raise ValueError('wrong')")
    with pytest.raises(ValueError, match="wrong"):
        optional("grbp_solver")
