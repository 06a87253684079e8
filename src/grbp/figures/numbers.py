"""How figures and the tables under them write numbers of rounds."""

from grbp.experiments.simulation import Simulation


def rounds_in_words(simulation: Simulation) -> str:
    """Write the number of rounds for figures and tables: "5,000 rounds"."""
    last = simulation.rounds
    return f"{format_tick(last)} rounds" if last > 1 else "1 round"


def format_tick(x: float) -> str:
    """Write a number of rounds at an axis: 500,000 and 1e6."""
    return f"{x:,.0f}" if x < 1e6 else f"{x:.3g}".replace("e+0", "e").replace("e+", "e")
