"""Experiments: frozen specifications that are run once, kept in files and found again."""

from grbp.experiments.catalog import (
    EXPERIMENTS,
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    GROWTH_3,
    GROWTH_3_OTHERS,
    GROWTH_3_UCB,
    GROWTH_4,
    GROWTH_4_OTHERS,
    as_printed,
)
from grbp.experiments.curve_result import CurveResult
from grbp.experiments.parts import merge_parts, sweep_part
from grbp.experiments.provenance import Meta
from grbp.experiments.runner import Result, load_result, run
from grbp.experiments.spec import Spec
from grbp.experiments.store import FOLDER, address, find, load, save, to_csv
from grbp.experiments.sweep_spec import AnySpec

__all__ = [
    "EXPERIMENTS", "FIGURE_3", "FIGURE_4", "FIGURE_5", "FOLDER", "GROWTH_3",
    "GROWTH_3_OTHERS", "GROWTH_3_UCB", "GROWTH_4", "GROWTH_4_OTHERS", "AnySpec", "CurveResult",
    "Meta", "Result", "Spec", "address", "as_printed", "find", "load", "load_result",
    "merge_parts", "run", "save", "sweep_part", "to_csv",
]  # fmt: skip
