"""How figures and the tables under them write numbers."""

import math

from grbp.experiments.simulation import Simulation


def rounded(number: float, beside: float | None = None) -> str:
    """Write a number for figures and tables: three digits or so, thousands set off.

    Beside another number it has as many decimals as that one.
    """
    size = max(abs(number), 0.0 if beside is None else abs(beside))
    decimals = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    if size >= 1e9 or not math.isfinite(size):
        said = f"{number:.3g}"
    elif 0.0 < abs(number) < 0.5 * 10.0**-decimals:
        # What is small must not read as nothing.
        said = f"{number:.1g}"
    else:
        said = f"{number:,.{decimals}f}"
    return said.replace("-", "\N{MINUS SIGN}")


def rounds_in_words(simulation: Simulation) -> str:
    """Write the number of rounds for figures and tables: "5,000 rounds"."""
    last = simulation.rounds
    return f"{tick(last)} rounds" if last > 1 else "1 round"


def tick(x: float) -> str:
    """Write a number of rounds at an axis: 500,000 and 1e6."""
    return f"{x:,.0f}" if x < 1e6 else f"{x:.3g}".replace("e+0", "e").replace("e+", "e")
