"""The public surface: the one list that type checkers read and `import grbp` goes by."""

from grbp import (
    experiments as experiments,
)
from grbp.errors import (
    CannotWrite as CannotWrite,
    Conflict as Conflict,
    Damaged as Damaged,
    GrbpError as GrbpError,
    InvalidInput as InvalidInput,
    InvalidRecords as InvalidRecords,
    MissingExtra as MissingExtra,
    NotFound as NotFound,
    ReadOnly as ReadOnly,
    TooLarge as TooLarge,
    WorkersFailed as WorkersFailed,
)
from grbp.experiments.league import (
    league_spec as league_spec,
)
from grbp.experiments.league_table import (
    Duel as Duel,
    LeagueTable as LeagueTable,
    Pair as Pair,
    Standing as Standing,
)
from grbp.experiments.regret import (
    Curve as Curve,
)
from grbp.experiments.simulation import (
    Simulation as Simulation,
    simulate as simulate,
)
from grbp.experiments.step_log import (
    step_log as step_log,
)
from grbp.experiments.sweep import sweep as sweep
from grbp.experiments.sweep_result import RegretMap as RegretMap, SweepResult as SweepResult
from grbp.experiments.sweep_spec import SweepSpec as SweepSpec
from grbp.figures import (
    best_learner_figure as best_learner_figure,
    boundary_figure as boundary_figure,
    league_figure as league_figure,
    regret_figure as regret_figure,
    regret_map_figure as regret_map_figure,
    save_league as save_league,
    transition_figure as transition_figure,
)
from grbp.fitting.estimates import Proportion as Proportion
from grbp.fitting.fit import fit as fit
from grbp.fitting.model_tests import AssumptionTest as AssumptionTest
from grbp.fitting.result import Fit as Fit, StateRow as StateRow
from grbp.fitting.watch import (
    Alarm as Alarm,
    Step as Step,
    Watch as Watch,
)
from grbp.learners.base import (
    Doubt as Doubt,
    Learner as Learner,
    NoConstants as NoConstants,
    Stable as Stable,
    Thinning as Thinning,
)
from grbp.learners.best_policy import best_policy as best_policy
from grbp.learners.checks import (
    check_learner as check_learner,
)
from grbp.learners.comparison import (
    finish_is_right as finish_is_right,
)
from grbp.learners.counters import (
    Corner as Corner,
    Counters as Counters,
    corners as corners,
)
from grbp.learners.getbe import (
    Control as Control,
    getbe_with as getbe_with,
)
from grbp.learners.registry import (
    DEFAULT_LEARNER as DEFAULT_LEARNER,
    LEARNERS as LEARNERS,
    STATE_LEARNERS as STATE_LEARNERS,
    Constant as Constant,
    LearnerLike as LearnerLike,
    find_learner as find_learner,
    learner_constants as learner_constants,
)
from grbp.learners.state_counters import (
    StateCounters as StateCounters,
    add_step as add_step,
    empty_state_counters as empty_state_counters,
)
from grbp.learners.state_learner import StateLearner as StateLearner
from grbp.live.advice import (
    Advice as Advice,
    Case as Case,
    GroupStatus as GroupStatus,
    Status as Status,
)
from grbp.live.basis import Basis as Basis, StateBasis as StateBasis
from grbp.live.client import Client as Client
from grbp.live.schema import Event as Event
from grbp.live.study import Study as Study
from grbp.live.verify import Verified as Verified
from grbp.numerics.intervals import (
    Interval as Interval,
    anytime as anytime,
    clopper_pearson as clopper_pearson,
    jeffreys as jeffreys,
    wilson as wilson,
)
from grbp.numerics.jit import (
    inlined as inlined,
    kernel as kernel,
)
from grbp.numerics.rng import (
    fold_in as fold_in,
    uniform as uniform,
)
from grbp.paper.reproduce import (
    PAPER_FIGURES as PAPER_FIGURES,
    paper_figure as paper_figure,
    reproduce as reproduce,
    save_figure as save_figure,
    save_simulation as save_simulation,
)
from grbp.paper.verdict import Verdict as Verdict, short_lines as short_lines, verdicts as verdicts
from grbp.planning.models import (
    ModelOutlook as ModelOutlook,
    ModelPlan as ModelPlan,
    plan_models as plan_models,
)
from grbp.planning.operating_characteristics import (
    Needed as Needed,
    Outlook as Outlook,
    Truth as Truth,
)
from grbp.planning.plan import (
    plan as plan,
)
from grbp.planning.result import (
    Plan as Plan,
)
from grbp.records.examples import example_records as example_records
from grbp.session import (
    Session as Session,
)
from grbp.theory import (
    extensions as extensions,
)
from grbp.theory.bounds import (
    GetbeBound as GetbeBound,
    gamma_bounded as gamma_bounded,
    getbe_bound as getbe_bound,
    regret_floor as regret_floor,
    ucb1_bound as ucb1_bound,
)
from grbp.theory.gaps import (
    gap as gap,
    gap_at as gap_at,
    gap_max as gap_max,
    policy_gaps as policy_gaps,
)
from grbp.theory.margin import (
    margin as margin,
)
from grbp.theory.posterior import (
    Estimate as Estimate,
    Posterior as Posterior,
)
from grbp.theory.round_length import (
    RoundLength as RoundLength,
    continue_probability as continue_probability,
    continues_at as continues_at,
    expected_continues as expected_continues,
    expected_slots as expected_slots,
    finish_probability as finish_probability,
    round_length as round_length,
    slots_at as slots_at,
)
from grbp.theory.summary import (
    Summary as Summary,
    summary as summary,
)
from grbp.theory.values import (
    Region as Region,
    boundary as boundary,
    log_value_at as log_value_at,
    optimal_threshold as optimal_threshold,
    q_at as q_at,
    region as region,
    value as value,
    value_at as value_at,
)
from grbp.worlds import (
    dynprog as dynprog,
)
from grbp.worlds.chain import Chain as Chain, Move as Move
from grbp.worlds.drift import Drift as Drift
from grbp.worlds.export import (
    to_prism as to_prism,
    to_toy_text as to_toy_text,
)
from grbp.worlds.groups import Groups as Groups
from grbp.worlds.problem import Problem as Problem
from grbp.worlds.start import StartLike as StartLike
from grbp.worlds.transition import (
    DEAD_END as DEAD_END,
    Action as Action,
    Policy as Policy,
    next_state as next_state,
)

__version__: str
__all__: list[str]
