"""What past cases say: where the estimate lies, three ways to value state 1, every state, drift."""

from grbp.figures.records.boundary_map import boundary_figure
from grbp.figures.records.cusum import cusum_figure
from grbp.figures.records.states import states_figure
from grbp.figures.records.ways import ways_figure

__all__ = ["boundary_figure", "cusum_figure", "states_figure", "ways_figure"]
