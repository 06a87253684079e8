"""The public surface: the one list that type checkers read and `import grbp` goes by."""

from grbp import (
    experiments as experiments,
)
from grbp._numba.jit import (
    inlined as inlined,
)
from grbp._numba.jit import (
    kernel as kernel,
)
from grbp.errors import (
    CannotWrite as CannotWrite,
)
from grbp.errors import (
    GrbpError as GrbpError,
)
from grbp.errors import (
    InvalidInput as InvalidInput,
)
from grbp.errors import (
    MissingExtra as MissingExtra,
)
from grbp.errors import (
    TooLarge as TooLarge,
)
from grbp.experiments.league import (
    Duel as Duel,
)
from grbp.experiments.league import (
    League as League,
)
from grbp.experiments.league import (
    LeagueSpec as LeagueSpec,
)
from grbp.experiments.league import (
    LeagueTable as LeagueTable,
)
from grbp.experiments.league import (
    Pair as Pair,
)
from grbp.experiments.league import (
    Standing as Standing,
)
from grbp.experiments.league import (
    run_league as run_league,
)
from grbp.experiments.regret import (
    Curve as Curve,
)
from grbp.experiments.simulation import (
    Simulation as Simulation,
)
from grbp.experiments.simulation import (
    simulate as simulate,
)
from grbp.figures import (
    boundary_figure as boundary_figure,
)
from grbp.figures import (
    league_figure as league_figure,
)
from grbp.figures import (
    regret_figure as regret_figure,
)
from grbp.figures import (
    regret_map_figure as regret_map_figure,
)
from grbp.figures import (
    save_league as save_league,
)
from grbp.figures import (
    transition_figure as transition_figure,
)
from grbp.learners.checks import (
    check_learner as check_learner,
)
from grbp.learners.comparison import (
    finish_is_right as finish_is_right,
)
from grbp.learners.counters import (
    Corner as Corner,
)
from grbp.learners.counters import (
    Counters as Counters,
)
from grbp.learners.counters import (
    corners as corners,
)
from grbp.learners.registry import (
    DEFAULT_LEARNER as DEFAULT_LEARNER,
)
from grbp.learners.registry import (
    LEARNERS as LEARNERS,
)
from grbp.learners.registry import (
    Control as Control,
)
from grbp.learners.registry import (
    Doubt as Doubt,
)
from grbp.learners.registry import (
    Learner as Learner,
)
from grbp.learners.registry import (
    LearnerLike as LearnerLike,
)
from grbp.learners.registry import (
    NoConstants as NoConstants,
)
from grbp.learners.registry import (
    Stable as Stable,
)
from grbp.learners.registry import (
    Thinning as Thinning,
)
from grbp.learners.registry import (
    find_learner as find_learner,
)
from grbp.learners.registry import (
    getbe_with as getbe_with,
)
from grbp.learners.registry import (
    learner_constants as learner_constants,
)
from grbp.model.export import (
    to_prism as to_prism,
)
from grbp.model.export import (
    to_toy_text as to_toy_text,
)
from grbp.model.problem import Problem as Problem
from grbp.model.problem import StartLike as StartLike
from grbp.model.transition import DEAD_END as DEAD_END
from grbp.model.transition import Action as Action
from grbp.model.transition import Policy as Policy
from grbp.model.transition import next_state as next_state
from grbp.numerics.rng import (
    fold_in as fold_in,
)
from grbp.numerics.rng import (
    uniform as uniform,
)
from grbp.paper.reproduce import (
    PAPER_FIGURES as PAPER_FIGURES,
)
from grbp.paper.reproduce import (
    paper_figure as paper_figure,
)
from grbp.paper.reproduce import (
    reproduce as reproduce,
)
from grbp.paper.reproduce import (
    save_figure as save_figure,
)
from grbp.paper.reproduce import (
    save_simulation as save_simulation,
)
from grbp.paper.verdict import Verdict as Verdict
from grbp.paper.verdict import short_lines as short_lines
from grbp.paper.verdict import verdicts as verdicts
from grbp.session import (
    Session as Session,
)
from grbp.theory import (
    dynprog as dynprog,
)
from grbp.theory import (
    extensions as extensions,
)
from grbp.theory.bounds import (
    GetbeBound as GetbeBound,
)
from grbp.theory.bounds import (
    gamma_bounded as gamma_bounded,
)
from grbp.theory.bounds import (
    getbe_bound as getbe_bound,
)
from grbp.theory.bounds import (
    regret_floor as regret_floor,
)
from grbp.theory.bounds import (
    ucb1_bound as ucb1_bound,
)
from grbp.theory.gaps import gap as gap
from grbp.theory.gaps import gap_at as gap_at
from grbp.theory.gaps import gap_max as gap_max
from grbp.theory.gaps import policy_gaps as policy_gaps
from grbp.theory.margin import (
    margin as margin,
)
from grbp.theory.round_length import RoundLength as RoundLength
from grbp.theory.round_length import continue_probability as continue_probability
from grbp.theory.round_length import continues_at as continues_at
from grbp.theory.round_length import expected_continues as expected_continues
from grbp.theory.round_length import expected_slots as expected_slots
from grbp.theory.round_length import finish_probability as finish_probability
from grbp.theory.round_length import round_length as round_length
from grbp.theory.round_length import slots_at as slots_at
from grbp.theory.summary import (
    Summary as Summary,
)
from grbp.theory.summary import (
    summary as summary,
)
from grbp.theory.values import Region as Region
from grbp.theory.values import boundary as boundary
from grbp.theory.values import log_value_at as log_value_at
from grbp.theory.values import optimal_threshold as optimal_threshold
from grbp.theory.values import q_at as q_at
from grbp.theory.values import region as region
from grbp.theory.values import value as value
from grbp.theory.values import value_at as value_at

__version__: str
__all__: list[str]
