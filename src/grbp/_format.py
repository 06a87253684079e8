"""How numbers are written: rounded, in percent, with intervals, in the plural, as JSON."""

import math
from collections.abc import Iterable, Mapping
from typing import Any


def begin(text: str) -> str:
    """Begin a sentence with a text; p_C and p_F keep their letters."""
    return text if text.startswith("p_") else text[:1].upper() + text[1:]


def go_on(sentence: str) -> str:
    """Let a sentence go on after a word; names keep their letters."""
    first = sentence.split(maxsplit=1)[0]
    return sentence if first.isupper() or "_" in first else sentence[0].lower() + sentence[1:]


def percent(share: float) -> str:
    """Write a share in percent; what is not quite none or all does not read as if it were."""
    if 0.0 < share < 0.0005:
        return "under 0.1 %"
    if 0.9995 <= share < 1.0:
        return "over 99.9 %"
    return f"{100.0 * share:.1f} %"


def format_share(share: float) -> str:
    """Write an estimated share in percent, or that it is unknown."""
    return "unknown" if math.isnan(share) else percent(share)


def format_span(low: float, high: float) -> str:
    """Write from where to where an interval goes, in percent."""
    return f"{100.0 * low:.1f} to {100.0 * high:.1f} %"


def format_interval(estimate: float, low: float, high: float) -> str:
    """Write an estimated probability with its interval, in percent: 44.6 % (40.6 to 48.8 %).

    The narrower the interval, the more decimals there are; what is small must not read as nothing.
    """
    if abs(low) < high < 1e-6:
        return "under 0.0001\xa0%"
    decimals = max(1, -1 - math.floor(math.log10(max(high - low, 1e-4))))
    form = f".{decimals}f" if abs(high) >= 5e-4 or low < 0.0 else ".2g"
    said = [f"{100.0 * number:{form}}" for number in (estimate, low, high)]
    return "{} % ({} to {} %)".format(*said).replace("-", "\N{MINUS SIGN}").replace(" %", "\xa0%")


def format_level(level: float, digits: int = 4) -> str:
    """Write the level of an interval: "95 %"."""
    return f"{100.0 * level:.{digits}g} %"


def join_words(words: Iterable[str], last: str = "and", most: int = 0) -> str:
    """Join words as a sentence does: "a, b and c"; of more than the most, "a, b and 7 more"."""
    listed = list(words)
    if 0 < most < len(listed):
        listed[most - 1 :] = [f"{len(listed) - most + 1:,} more"]
    return f" {last} ".join(filter(None, (", ".join(listed[:-1]), *listed[-1:])))


def plural(count: int, thing: str) -> str:
    """Write how many of a thing there are: "1 case", "1,200 cases"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def format_days(number: float) -> str:
    """Write a number of days."""
    return f"{number:g} day{'' if number == 1 else 's'}"


def format_number(number: float, beside: float | None = None) -> str:
    """Write a number for figures and tables: three digits or so, thousands set off.

    Beside another number it has as many decimals as that one.
    """
    size = max(abs(number), 0.0 if beside is None else abs(beside))
    decimals = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    if size >= 1e9 or not math.isfinite(size):
        text = f"{number:.3g}"
    elif 0.0 < abs(number) < 0.5 * 10.0**-decimals:
        # What is small must not read as nothing.
        text = f"{number:.1g}"
    else:
        text = f"{number:,.{decimals}f}"
    return text.replace("-", "\N{MINUS SIGN}")


def as_plain(value: Any) -> Any:
    """Return what JSON can hold: named tuples as objects, and None where no number is finite."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key: as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
