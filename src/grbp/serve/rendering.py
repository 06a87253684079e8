"""Fill in the templates of pages."""

import math
from pathlib import Path
from typing import Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grbp._format import plural
from grbp.live.narration import format_days
from grbp.model.labels import begin
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
    "share": narration.format_share,
    "span": narration.format_interval,
    "clock": lambda stamp: f"{stamp[:10]} {stamp[11:16]} UTC",
}
TEMPLATES.globals |= {
    "isnan": math.isnan,
    "describe_alarms": narration.describe_alarms,
    "describe_granted": narration.describe_granted,
    "describe_learner": narration.describe_learner,
    "link_explorer": narration.link_explorer,
    "successors": successors,
}
