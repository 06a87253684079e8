"""Judge the paper's claims by the results that `grbp reproduce` has left; measure nothing."""

import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

from grbp.errors import GrbpError
from grbp.explorer.explorer_models import VerdictModel


def judge_claims(folder: Path) -> dict[str, Any]:
    """Return the verdicts on the paper's claims, from the results in a folder.

    A result that is damaged, or that another version of this software has made, is not counted.
    """
    from grbp.experiments import EXPERIMENTS, as_printed, load_result  # noqa: PLC0415 (slow)
    from grbp.paper.verdict import LEGEND, tally, verdicts  # noqa: PLC0415 (slow)

    results = {}
    for name, spec in EXPERIMENTS.items():
        for one in (as_printed(spec), spec):  # What was measured more precisely counts.
            with suppress(GrbpError):
                results[name] = load_result(folder / "data", one)
    rows = verdicts(results)
    curves = results.get("figure-3")
    return {
        "items": [{name: getattr(row, name) for name in VerdictModel.model_fields} for row in rows],
        "legend": LEGEND,
        "tally": tally(rows),
        "missing": [name for name in EXPERIMENTS if name not in results],
        "made": max((one.meta.made for one in results.values()), default=None),
        "replicas": None if curves is None else curves.spec.replicas,
        "command": shlex.join(["grbp", "reproduce", "--out", str(folder)]),
    }
