"""Experiments: frozen specifications, run once, kept in files, found again."""

from grbp.experiments.run import run
from grbp.experiments.spec import (
    EXPERIMENTS,
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    GROWTH_3,
    GROWTH_4,
    NEAR_BOUNDARY,
    AnySpec,
    GridSpec,
    Spec,
    as_printed,
)
from grbp.experiments.store import (
    FOLDER,
    CurveResult,
    GridResult,
    Meta,
    Result,
    address,
    find,
    load,
    save,
    to_csv,
)

__all__ = [
    "EXPERIMENTS",
    "FIGURE_3",
    "FIGURE_4",
    "FIGURE_5",
    "FOLDER",
    "GROWTH_3",
    "GROWTH_4",
    "NEAR_BOUNDARY",
    "AnySpec",
    "CurveResult",
    "GridResult",
    "GridSpec",
    "Meta",
    "Result",
    "Spec",
    "address",
    "as_printed",
    "find",
    "load",
    "run",
    "save",
    "to_csv",
]
