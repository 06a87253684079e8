"""What may be recorded: each request is checked, and what follows from it decided, before it is.

Nothing here has an effect: `grbp.live.evolve` says what an event does, `grbp.live.kinds` which
kinds there are, and `grbp.live.recording` records one.

A case is a round of Algorithm 1, and its number is rho. The threshold (by state, the policy) is
decided when it opens and never changes, nor does its group. A step counts when it is told or, where
its action has a window, when it is mature.
"""

from typing import Any

from grbp.errors import Conflict, InvalidInput, did_you_mean
from grbp.live.arguments import MOST_CASES
from grbp.live.calls import Answer, Asked, Request, refuse_archived
from grbp.live.choice import decide_choice
from grbp.live.config import CONTINUE, FINISH, Config, check_change, check_config
from grbp.live.evolve import due_time
from grbp.live.history import find_undoable, last_entry
from grbp.live.ledger import advise, dumps_known, know
from grbp.live.schema import CLOSED, OPEN, CaseRow
from grbp.live.wording import name_state
from grbp.numerics.rng import fold_in
from grbp.worlds.transition import successors
from grbp.worlds.validation import check_whole


def configure(at: Request, /, config: dict[str, Any]) -> Asked | Answer:
    """Make a study, or configure one anew in which no case was opened yet."""
    new = check_config(config)
    if new.former:
        raise InvalidInput(f"the study {new.name!r} was to begin with former learners; it has none")
    if at.found is not None:
        refuse_archived(at.found)
        if at.config.equals(new):
            return at.repeat_last()
        if at.found.opened:
            raise Conflict(
                f"the study {new.name!r} was to be configured anew; it is locked: it already has"
                " cases; give another name"
            )
    return Asked(0, 0, {"config": config})


def archive(at: Request, /, why: str) -> Asked | Answer:
    """Close a study for entries; it is kept, and can be opened again."""
    return at.repeat_last() if at.study.archived else Asked(0, 0, {"why": why})


def unarchive(at: Request, /, why: str) -> Asked:
    """Open a study for entries again."""
    if not at.study.archived:
        raise Conflict(f"the study {at.study.name!r} was to be opened again; it is not archived")
    return Asked(0, 0, {"why": why})


def change_learner(
    at: Request,
    /,
    learner: Any,
    constants: Any,
    why: str,
    was: str = "",  # noqa: ARG001 (the log says it, and it is found again)
) -> Asked:
    """Let another learner decide from now on, from what was counted for the former one."""
    refuse_archived(at.study)
    check_change(at.config, learner, constants)
    words = {"learner": learner, "constants": constants, "why": why}
    return Asked(0, 0, words | {"was": at.config.learner_name})


def open_case(at: Request, /, state: object, group: object = None) -> Asked | Answer:
    """Open a case."""
    config = at.config
    first, name = _check_state(config, state, 1, config.goal - 1), _check_group(config, group)
    words = {"state": first} | ({"group": name} if name else {})
    if answered := at.find_answer("open", words):
        return answered
    at.check_observed()
    return Asked(at.study.opened + 1, 0, words)


def decide_case(at: Request, asked: Asked) -> dict[str, Any]:
    """Decide the threshold of a case, or its policy, from what is known now."""
    config, study, call, choice = at.config, at.study, at.call, at.call.decided
    known = know(config, study, asked.words.get("group", ""))
    if choice is None:
        if call.doubt:
            raise Conflict(f"a case was to be opened; {call.doubt}")
        choice = decide_choice(config, study, call.learner, known)
    return {
        "threshold": choice,
        "version": call.version,
        "known": dumps_known(config, known),
        "draw": fold_in(config.learner_key, config.first_round + study.opened),
        "learner": config.learner_name,
    }


def tell(
    at: Request,
    /,
    case: int,
    state: object,
    took: object = None,
    why: str = "",
    step: object = None,
) -> Asked | Answer:
    """Tell the state to which an action led."""
    config, row = at.config, at.find_case(case)
    after, action = _check_state(config, state, 0, config.goal), _check_took(config, took)
    number = _check_step(step)
    words = {"case": case, "state": after, "took": action, "why": why, "step": number}
    if answered := at.find_answer("tell", words):
        return answered
    if number is not None and number != row.steps + 1:
        return at.repeat_step(row, number, after, action)
    if row.status != OPEN:
        name = config.words.name_case(case)
        raise Conflict(f"step {row.steps + 1} of {name} was told; {_describe_end(config, row)}")
    _check_action(config, row, action, after, why)
    at.check_observed()
    return Asked(case, row.steps + 1, words)


def decide_step(at: Request, asked: Asked) -> dict[str, Any]:
    """Say of a step what was advised and done, and whether it counts by now."""
    config, row = at.config, at.find_case(asked.case)
    advised = advise(config, row) or CONTINUE
    took = asked.words["took"] or advised
    counts = not due_time(config, took, row.since, at.call.now)
    return {"from": row.state, "took": took, "advised": advised, "counted": counts}


def void(
    at: Request, /, case: int, why: str, step: object = None, own: bool = False
) -> Asked | Answer:
    """Take back the last entry of a case, its withdrawal or its last step; or undo one's own."""
    row, number = at.find_case(case), _check_step(step)
    words = {"case": case, "why": why, "step": number} | _say_own(own)
    if answered := at.find_answer("void", words):
        return answered
    if own:
        _refuse_others(at, row)
    last, name = 0 if row.status == CLOSED else row.steps, at.config.words.name_case(case)
    if not last and row.status != CLOSED:
        raise Conflict(
            f"an entry of {name} was to be taken back; there is none yet: withdraw it if it was"
            " opened by mistake"
        )
    if number not in (None, last):
        entry = f"step {last}" if last else "its withdrawal"
        raise Conflict(
            f"step {number} of {name} was to be taken back; only the last entry can be, which is"
            f" {entry}"
        )
    return Asked(case, last, words)


def close(at: Request, /, case: int, why: str, own: bool = False) -> Asked | Answer:
    """Withdraw a case: what was observed stays, what was pending is released."""
    row = at.find_case(case)
    words = {"case": case, "why": why} | _say_own(own)
    if answered := at.find_answer("close", words):
        return answered
    if row.status != OPEN:
        config = at.config
        raise Conflict(
            f"{config.words.name_case(case)} was to be withdrawn; {_describe_end(config, row)}"
        )
    if own:
        _refuse_others(at, row)
    return Asked(case, 0, words)


def mature(at: Request, /, case: int, step: int) -> Asked:
    """Let a step count, whose window is over."""
    held = at.tx.held(case, step)
    if held is None or held.due > at.call.now:
        raise Conflict(f"step {step} of case {case} was to be counted; it is not due")
    return Asked(case, step, {"case": case, "step": step})


def decide_mature(_: Request, asked: Asked) -> dict[str, Any]:
    """Say which step counts."""
    return {"step": asked.step}


def decide_nothing(_: Request, __: Asked) -> dict[str, Any]:
    """Say no more than how the case stands."""
    return {}


def _say_own(own: bool) -> dict[str, bool]:
    """Say in a request that somebody undoes an entry of their own; others do not say it."""
    return {"own": True} if own else {}


def _refuse_others(at: Request, case: CaseRow) -> None:
    """Refuse to undo an entry that somebody else recorded, or that was recorded long ago."""
    tx, call = at.tx, at.call
    if find_undoable(tx, case, call.who, call.now) is None:
        event, name = last_entry(tx, case), at.config.words.name_case(case.case)
        what = {"open": "its opening", "close": "its withdrawal"}.get(
            event.kind, f"step {event.step}"
        )
        raise Conflict(
            f"the last entry of {name}, {what}, was to be undone; {event.who} recorded it"
            f" on {event.recorded[:16].replace('T', ' at ')} UTC: only the same person can undo it,"
            " within 15 minutes, and a corrector can take it back"
        )


def _check_group(config: Config, group: object) -> str:
    """Return the group of a new case, or refuse one that the study does not have."""
    names = ", ".join(config.groups)
    if not config.groups:
        if group is None:
            return ""
        raise InvalidInput(f"group = {group!r} was given; the study has no groups: leave it out")
    if group is None:
        raise InvalidInput(f"a case was to be opened without its group; it must be one of {names}")
    if not isinstance(group, str) or group not in config.groups:
        raise InvalidInput(f"group = {group!r} was given; it must be one of {names}")
    return group


def _check_state(config: Config, state: object, low: int, high: int) -> int:
    """Return a state that is given by its number or by its word."""
    number = config.words.read_state(state) if config.labels else state
    return check_whole("state", number, low, high)


def _check_took(config: Config, took: object) -> str | None:
    """Return what was done, which is given by its name or by its word."""
    action = config.words.read_action(took) if config.labels else took
    if action is None or (isinstance(action, str) and action in (CONTINUE, FINISH)):
        return action
    names = [config.words.do(one) for one in (CONTINUE, FINISH)]
    near = did_you_mean(took, names) if isinstance(took, str) else ""
    raise InvalidInput(
        f"took = {took!r} was given; it must be {names[0]!r} or {names[1]!r}"
        f"{f' ({near})' if near else ''}"
    )


def _check_step(step: object) -> int | None:
    return None if step is None else check_whole("step", step, 1, MOST_CASES)


def _check_action(config: Config, case: CaseRow, took: str | None, state: int, why: str) -> None:
    """Refuse a step that cannot have been, or that lacks a reason."""
    advice, words = advise(config, case) or CONTINUE, config.words
    if config.shadow and took is None:
        raise InvalidInput(
            f"{words.state(state)} was told in a study in shadow mode; also tell what was done,"
            f" {words.do(CONTINUE)!r} or {words.do(FINISH)!r}"
        )
    action, name = took or advice, words.name_case(case.case)
    to = {one: successors(config.goal, case.state, one == FINISH) for one in (CONTINUE, FINISH)}
    if state not in to[action]:
        other = CONTINUE if action == FINISH else FINISH
        meant = took is None and state in to[other]
        hint = f"; if it was {words.doing(other)} instead, tell that and why" if meant else ""
        raise InvalidInput(
            f"{words.state(state)} was told after {words.doing(action)} in"
            f" {words.state(case.state)} of {name}; it must be"
            f" {words.name_states(to[action], 'or')}{hint}"
        )
    if action != advice and not why and not config.shadow:
        raise InvalidInput(
            f"{words.doing(action)} was told of {name} where {words.doing(advice)} was advised;"
            " also tell why"
        )


def _describe_end(config: Config, case: CaseRow) -> str:
    """Say how a case ended, and what to do if it did not."""
    end = "was withdrawn"
    if case.status != CLOSED:
        end = f"ended in {name_state(case.state, config.goal, config.words)}"
    return f"it {end} after step {case.steps}: take that back first if it is wrong"
