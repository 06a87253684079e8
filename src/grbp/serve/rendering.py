"""Fill in the templates of pages."""

import math
from pathlib import Path
from typing import Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grbp._format import begin, format_days, format_share, format_span, plural
from grbp.live.words import entries, reasons, standing
from grbp.model.transition import successors
from grbp.serve import narration

TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters |= {
    "address": lambda text: quote(str(text), ""),
    "begin": begin,
    "counted": plural,
    "days": format_days,
    "share": lambda one: format_share(one.estimate),
    "span": lambda one: format_span(one.low, one.high).replace(" %", "\xa0%"),
    "clock": lambda stamp: f"{stamp[:10]} {stamp[11:16]} UTC",
}
TEMPLATES.globals |= {
    "isnan": math.isnan,
    "describe_alarms": standing.describe_alarms,
    "describe_granted": standing.describe_granted,
    "explain_advice": reasons.explain_advice,
    "link_explorer": narration.link_explorer,
    "say_drawn": reasons.say_drawn,
    "say_how_sure": reasons.say_how_sure,
    "say_other_better": reasons.say_other_better,
    "say_window": entries.say_window,
    "successors": successors,
}
