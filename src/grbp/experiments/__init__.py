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
from grbp.experiments.parts import merge_parts, sweep_part
from grbp.experiments.provenance import Meta
from grbp.experiments.runner import FOLDER, address, load_result, run, to_csv

__all__ = [
    "EXPERIMENTS", "FIGURE_3", "FIGURE_4", "FIGURE_5", "FOLDER", "GROWTH_3", "GROWTH_3_OTHERS",
    "GROWTH_3_UCB", "GROWTH_4", "GROWTH_4_OTHERS", "Meta", "address", "as_printed", "load_result",
    "merge_parts", "run", "sweep_part", "to_csv",
]  # fmt: skip
