"""Figures and results in a real notebook: they appear by themselves, without pyplot."""

import json
from importlib import import_module
from importlib.util import find_spec

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("nbclient") is None or find_spec("ipykernel") is None,
        reason="tests of notebooks: nbclient or ipykernel is not installed; get them with:"
        " .venv/bin/pip install '.[docs]'",
    ),
]

CELLS = [
    "import grbp\ngrbp.boundary_figure([4])",
    "grbp.Problem(4, .45, .3)",
    "result = grbp.simulate(grbp.Problem(4, .45, .3), 'threshold-1', 20, 5)\nresult",
    "grbp.regret_figure(result)",
    "import sys\nprint('matplotlib.pyplot' in sys.modules)",
]


@pytest.mark.soak
@pytest.mark.filterwarnings("default")  # those of the notebook's own libraries
def test_figures_appear_by_themselves() -> None:
    nbclient, nbformat = (import_module(name) for name in ("nbclient", "nbformat"))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    shown = [cell["outputs"] for cell in json.loads(nbformat.writes(book))["cells"]]
    for k, kind in ((0, "image/png"), (1, "text/html"), (2, "text/html"), (3, "image/png")):
        (data,) = [part["data"] for part in shown[k] if part["output_type"] == "execute_result"]
        assert kind in data
        assert kind != "text/html" or "<img" in "".join(data[kind])
    assert "".join(shown[4][0]["text"]).strip() == "False"
