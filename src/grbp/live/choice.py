"""What the learner of a study decides for a case: its threshold or, by state, its policy."""

from typing import Final

from grbp.errors import GrbpError, InvalidInput
from grbp.learners.counters import Counters
from grbp.learners.registry import LearnerLike
from grbp.live.config import Config
from grbp.live.ledger import Known, load_known
from grbp.live.schema import CaseRow, StudyRow
from grbp.live.starts import FIRST
from grbp.numerics.rng import fold_in

UNDECIDED: Final = "the study's learner cannot decide, and shadow mode hides why"


def decide_choice(config: Config, study: StudyRow, given: LearnerLike | None, known: Known) -> int:
    """Decide the threshold, or the policy, of a case that is opened now from what is known."""
    try:
        return _choose(config, given, config.first_round + study.opened, known)
    except GrbpError as error:
        if config.shadow:  # The learner's own words may tell what it would advise.
            raise InvalidInput(_say_way_out(config, UNDECIDED)) from error
        raise


def find_doubt(config: Config, last: CaseRow | None, given: LearnerLike | None) -> str | None:
    """Say why the next case cannot be decided, and what to do; None if it can.

    `last` is the case that was opened last. If this version would decide it otherwise than it was,
    it would not go on as the study began.
    """
    try:
        config.resolve_learner(given)
        if last is None or last.case <= config.former_cases or _decides_again(config, last, given):
            return None
        why = f"this version decides case {last.case} differently than version {last.version} did"
    except GrbpError as error:
        why = str(error)
    return _say_way_out(config, UNDECIDED if config.shadow else why)


def _say_way_out(config: Config, why: str) -> str:
    """Say of a study whose learner cannot decide that it goes on, and how."""
    name = config.name if config.name.isalnum() else f'"{config.name}"'
    return (
        f"{why}; cases in progress go on, and `grbp live learner --study {name}` lets another"
        " learner decide the next ones"
    )


def _decides_again(config: Config, case: CaseRow, given: LearnerLike | None) -> bool:
    """Return whether a case would get the same choice again from what was known then."""
    round_ = config.first_round + case.case - 1
    return _choose(config, given, round_, load_known(config, case.known)) == case.threshold


def _choose(config: Config, given: LearnerLike | None, round_: int, known: Known) -> int:
    """Decide from what is counted and what is pending.

    Paper: alg:GRBP
    """
    n, pending = known.n, known.pending
    if isinstance(n, Counters) and config.start == FIRST and not (n.c and n.f):
        # One first CONTINUE, then one first FINISH; the learner needs an outcome of both.
        return config.goal - 1 if n.c and not n.f + pending[0] else 0
    learner, draw = config.resolve_learner(given), fold_in(config.learner_key, round_)
    try:
        # FINISH that is pending counts as taken.
        return learner.choose(config.goal, learner.expect(n, pending), draw)
    except GrbpError:
        raise
    except Exception as error:  # A learner of the user's own may do anything.
        raise InvalidInput(
            f"the learner {learner.name} could not decide ({type(error).__name__}: {error});"
            " correct it, and ask again"
        ) from error
