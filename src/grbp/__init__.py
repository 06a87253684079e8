"""The gambler's ruin bandit problem: exact answers, bounds, an environment, figures.

This module is the whole public surface; the Gymnasium environment is `grbp.env`, and is known
to Gymnasium as "grbp/GamblersRuin-v0" once this module has been imported.
"""

from grbp import experiments
from grbp._registration import register_when_imported
from grbp.errors import CannotWrite, GrbpError, InvalidInput, MissingExtra, TooLarge
from grbp.experiments.league import (
    Duel,
    League,
    LeagueSpec,
    LeagueTable,
    Pair,
    Standing,
    run_league,
)
from grbp.experiments.regret import Curve
from grbp.experiments.simulation import Simulation, simulate
from grbp.figures import (
    boundary_figure,
    league_figure,
    regret_figure,
    regret_map_figure,
    save_league,
    transition_figure,
)
from grbp.learners import (
    DEFAULT_LEARNER,
    LEARNERS,
    Control,
    Doubt,
    Learner,
    LearnerLike,
    NoConstants,
    Stable,
    Thinning,
    find_learner,
    getbe_with,
    learner_constants,
)
from grbp.learners.checks import check_learner
from grbp.learners.counters import Counters
from grbp.model.export import to_prism, to_toy_text
from grbp.model.problem import DEAD_END, Action, Policy, Problem, StartLike, next_state
from grbp.paper.reproduce import (
    PAPER_FIGURES,
    paper_figure,
    reproduce,
    save_figure,
    save_simulation,
)
from grbp.paper.verdict import Verdict, short_lines, verdicts
from grbp.session import Session
from grbp.theory import dynprog, extensions
from grbp.theory.bounds import GetbeBound, gamma_bounded, getbe_bound, regret_floor, ucb1_bound
from grbp.theory.exact import (
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
from grbp.theory.margin import margin
from grbp.theory.summary import Summary, summary

__version__ = "0.1.0.dev0"

__all__ = [
    "DEAD_END",
    "DEFAULT_LEARNER",
    "LEARNERS",
    "PAPER_FIGURES",
    "Action",
    "CannotWrite",
    "Control",
    "Counters",
    "Curve",
    "Doubt",
    "Duel",
    "GetbeBound",
    "GrbpError",
    "InvalidInput",
    "League",
    "LeagueSpec",
    "LeagueTable",
    "Learner",
    "LearnerLike",
    "MissingExtra",
    "NoConstants",
    "Pair",
    "Policy",
    "Problem",
    "Region",
    "RoundLength",
    "Session",
    "Simulation",
    "Stable",
    "Standing",
    "StartLike",
    "Summary",
    "Thinning",
    "TooLarge",
    "Verdict",
    "boundary",
    "boundary_figure",
    "check_learner",
    "continue_probability",
    "continues_at",
    "dynprog",
    "expected_continues",
    "expected_slots",
    "experiments",
    "extensions",
    "find_learner",
    "finish_probability",
    "gamma_bounded",
    "gap",
    "gap_at",
    "gap_max",
    "getbe_bound",
    "getbe_with",
    "league_figure",
    "learner_constants",
    "log_value_at",
    "margin",
    "next_state",
    "optimal_threshold",
    "paper_figure",
    "policy_gaps",
    "q_at",
    "region",
    "regret_figure",
    "regret_floor",
    "regret_map_figure",
    "reproduce",
    "round_length",
    "run_league",
    "save_figure",
    "save_league",
    "save_simulation",
    "short_lines",
    "simulate",
    "slots_at",
    "summary",
    "to_prism",
    "to_toy_text",
    "transition_figure",
    "ucb1_bound",
    "value",
    "value_at",
    "verdicts",
]

register_when_imported()
