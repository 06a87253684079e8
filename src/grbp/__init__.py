"""The gambler's ruin bandit problem: exact answers, bounds, an environment, figures.

This module is the whole public surface; the Gymnasium environment is `grbp.env`, and is known
to Gymnasium as "grbp/GamblersRuin-v0" once this module has been imported.
"""

from grbp import dynprog, extensions
from grbp._registration import register_when_imported
from grbp.bounds import GetbeBound, getbe_bound, ucb1_bound
from grbp.errors import CannotWrite, GrbpError, InvalidInput, MissingExtra, TooLarge
from grbp.exact import (
    Region,
    RoundLength,
    boundary,
    continue_probability,
    continues_at,
    expected_continues,
    expected_slots,
    finish_probability,
    gap,
    gap_at,
    gap_max,
    log_value_at,
    optimal_threshold,
    policy_gaps,
    q_at,
    region,
    round_length,
    slots_at,
    value,
    value_at,
)
from grbp.export import to_prism, to_toy_text
from grbp.figures import boundary_figure, transition_figure
from grbp.margin import margin
from grbp.model import DEAD_END, Action, Policy, Problem, StartLike, next_state
from grbp.paper import PAPER_FIGURES, paper_figure, save_figure
from grbp.summary import Summary, summary

__version__ = "0.1.0.dev0"

__all__ = [
    "DEAD_END",
    "PAPER_FIGURES",
    "Action",
    "CannotWrite",
    "GetbeBound",
    "GrbpError",
    "InvalidInput",
    "MissingExtra",
    "Policy",
    "Problem",
    "Region",
    "RoundLength",
    "StartLike",
    "Summary",
    "TooLarge",
    "boundary",
    "boundary_figure",
    "continue_probability",
    "continues_at",
    "dynprog",
    "expected_continues",
    "expected_slots",
    "extensions",
    "finish_probability",
    "gap",
    "gap_at",
    "gap_max",
    "getbe_bound",
    "log_value_at",
    "margin",
    "next_state",
    "optimal_threshold",
    "paper_figure",
    "policy_gaps",
    "q_at",
    "region",
    "round_length",
    "save_figure",
    "slots_at",
    "summary",
    "to_prism",
    "to_toy_text",
    "transition_figure",
    "ucb1_bound",
    "value",
    "value_at",
]

register_when_imported()
