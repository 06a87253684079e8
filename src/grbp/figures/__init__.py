"""Pictures: each function returns a Matplotlib figure, and `save` writes it to files.

Nothing is computed here but where things are drawn; numbers come from the floors below.
Matplotlib is imported when a figure is asked for, so importing this package costs nothing.
"""

from grbp.figures.boundary import MOST_CURVES, boundary_figure
from grbp.figures.canvas import save
from grbp.figures.transition import transition_figure

__all__ = ["MOST_CURVES", "boundary_figure", "save", "transition_figure"]
