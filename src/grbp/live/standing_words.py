"""Say how a case and a study stand: what to do, how sure that is, what is taken for granted."""

from typing import TYPE_CHECKING, Final, NamedTuple

from grbp._format import begin, join_words, plural
from grbp.live.policy_words import name_state
from grbp.live.reason_words import GRANTED, format_sure, say_where
from grbp.live.schema import CLOSED, LOST, OPEN, WON
from grbp.worlds.labels import NO_WORDS, Labels
from grbp.worlds.transition import Action, successors

if TYPE_CHECKING:
    from grbp.live.advice import Advice, AnyBasis, Status

STAGES: Final = {OPEN: "in progress", WON: "won", LOST: "lost", CLOSED: "withdrawn"}
"""How a case can stand."""


def name_stages(goal: int, labels: Labels) -> dict[str, str]:
    """Name how a case can stand; its ends are called as the study calls them."""
    own = {WON: labels.state(goal), LOST: labels.state(0)} if labels.states else {}
    return STAGES | own


def describe_advice(advice: "Advice") -> str:
    """Say in a sentence or two what to do with a case."""
    labels = advice.labels
    marks = ", ".join(filter(None, (advice.code, advice.group)))
    name = begin(labels.name_case(advice.case)) + (f" ({marks})" if marks else "")
    after = f"after {plural(advice.step, 'step')}"
    if advice.status in (WON, LOST):
        end = name_state(advice.state, advice.state, labels)
        return f"{name} ended in {end} {after}."
    if advice.status == CLOSED:
        return f"{name} was withdrawn in {labels.state(advice.state)} {after}."
    place = f"{name} is in {labels.state(advice.state)}"
    if advice.action is None or advice.basis is None:
        return f"{place}. Nobody is advised: the study is in shadow mode."
    learn = ", in order to learn" if advice.basis.forced else ""
    both = successors(advice.basis.goal, advice.state, advice.action == Action.FINISH)
    then = labels.name_states(both, "or")
    return f"{place}: {labels.do(advice.action)}{learn}. Then tell {then}."


def describe_planned(planned: int, opened: int, labels: Labels = NO_WORDS) -> str:
    """Say for how many cases a study is planned, and what holds when they are over."""
    were = f"{opened:,} {'was' if opened == 1 else 'were'} opened"
    if opened < planned:
        return f"Planned for {labels.count_cases(planned)}, of which {were}."
    return (
        f"Planned for {labels.count_cases(planned)}, and {were}: the planned number is over. The"
        " advisor goes on as if it did not know how many come."
    )


def describe_certainty(basis: "AnyBasis", labels: Labels) -> str:
    """Say in a sentence or two how sure a study is about what to do in the state of a basis."""
    if basis.side is None:
        tries = ((Action.CONTINUE, basis.c), (Action.FINISH, basis.f))
        missing = join_words(labels.doing(action) for action, number in tries if not number)
        have = "has" if basis.c or basis.f else "have"
        where = say_where(basis, labels)
        return f"Nothing can be said yet: {missing} {have} not been tried{where} so far."
    place, side, better = labels.state(basis.state), labels.doing(basis.side), basis.other_better
    sure = ""
    if better is not None:
        right = 1.0 - better if basis.action == basis.side else better
        sure = f" The probability that this is right is {format_sure(right)}."
    if basis.settled:
        return f"It is settled: in {place}, {side} is better.{sure}"
    return f"In {place}, {side} seems better, but that is not certain yet.{sure}"


def describe_granted(status: "Status") -> list[str]:
    """Say what the advice of a study takes for granted: about states, groups and time."""
    cases, memory, said = status.labels.case[1], status.memory, [GRANTED[status.model]]
    if status.groups:
        said.append("nothing about groups, as each group has its own chances")
    if memory is None:
        said.append("chances that do not change over time")
    elif isinstance(memory, str):
        said.append(f"nothing about time, as old {cases} count less if the chances change")
    else:
        last = f"{memory:,.6g} {status.labels.case[memory != 1]}"
        said.append(f"little about time, as old {cases} count less, with a memory of {last}")
    return said


class AlarmLine(NamedTuple):
    """An alarm in words.

    Attributes
    ----------
    what, follows : str
        What the cases show, and what follows from that.
    case : int or None
        Since which case they show it.
    speaks : bool
        Whether it speaks against what the advice takes for granted.
    sentence : str
        All of it.
    """

    what: str
    follows: str
    case: int | None
    speaks: bool
    sentence: str


CHANCES: Final = {
    Action.CONTINUE: "The chance that {go_on} moves up",
    Action.FINISH: "The chance that {finish} leads to the goal",
    None: "The chances",
}
"""What differs, by the action that an alarm is about."""

DIFFERENCES: Final = {
    "state": (
        "differs from state to state",
        "The advice can be wrong in some states. A new study in which each state has its own"
        " chances would fit better.",
    ),
    "time": (
        "changes over time",
        "Old {cases} mislead. A new study in which they count less would follow the change.",
    ),
    "groups": (
        "differ from group to group",
        "The advice can be wrong in some groups. A new study with these groups would learn each on"
        " its own.",
    ),
}
"""How it differs, and what follows, by what an alarm is over."""


def describe_alarms(status: "Status") -> list[AlarmLine]:
    """Say what the cases of a study show; what speaks against the advice comes first."""
    labels, against, lines = status.labels, status.against, []
    named = {"go_on": labels.doing(Action.CONTINUE), "finish": labels.doing(Action.FINISH)}
    for alarm in sorted(status.alarms or (), key=lambda one: one not in against):
        speaks, (differs, meant) = alarm in against, DIFFERENCES[alarm.over]
        what = f"{CHANCES[alarm.action].format(**named)} {differs}"
        follows = meant.format(cases=labels.case[1])
        follows = follows if speaks else "The advice allows for that."
        since = "" if alarm.case is None else f", as it seems since {labels.name_case(alarm.case)}"
        lines.append(AlarmLine(what, follows, alarm.case, speaks, f"{what}{since}. {follows}"))
    return lines
