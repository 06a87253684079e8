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


def with_interval(estimate: float, low: float, high: float) -> str:
    """Write an estimated probability with its interval, in percent: 44.6 % (40.6 to 48.8 %).

    The narrower the interval, the more decimals there are; what is small must not read as nothing.
    """
    if abs(low) < high < 1e-6:
        return "under 0.0001\xa0%"
    decimals = max(1, -1 - math.floor(math.log10(max(high - low, 1e-4))))
    form = f".{decimals}f" if abs(high) >= 5e-4 or low < 0.0 else ".2g"
    said = [f"{100.0 * number:{form}}" for number in (estimate, low, high)]
    return "{} % ({} to {} %)".format(*said).replace("-", "\N{MINUS SIGN}").replace(" %", "\xa0%")


def rounds_in_words(simulation: Simulation) -> str:
    """Write the number of rounds for figures and tables: "5,000 rounds"."""
    last = simulation.rounds
    return f"{tick(last)} rounds" if last > 1 else "1 round"


def tick(x: float) -> str:
    """Write a number of rounds at an axis: 500,000 and 1e6."""
    return f"{x:,.0f}" if x < 1e6 else f"{x:.3g}".replace("e+0", "e").replace("e+", "e")
