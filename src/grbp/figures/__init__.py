"""Pictures: each function returns a Matplotlib figure, and `save` writes it to files.

Numbers come from the floors below; here is only computed where things are drawn. Matplotlib is
imported when a figure is asked for, so that importing this package costs nothing.
"""

from grbp.figures.best_map import best_learner_figure
from grbp.figures.boundary import MOST_CURVES, boundary_figure
from grbp.figures.canvas import save
from grbp.figures.league_map import league_figure, save_league
from grbp.figures.regret_curves import regret_figure
from grbp.figures.regret_map import regret_map_figure
from grbp.figures.transition import transition_figure

__all__ = [
    "MOST_CURVES",
    "best_learner_figure",
    "boundary_figure",
    "league_figure",
    "regret_figure",
    "regret_map_figure",
    "save",
    "save_league",
    "transition_figure",
]
