"""Say what a study holds: its states and policies, how it and its cases stand, what was recorded.

There is a function for the words of each kind of event; why an action is advised has its words in
`grbp.live.reasons`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from grbp._format import begin, format_days, join_words, plural
from grbp.live.reasons import GRANTED, format_sure, say_where
from grbp.live.schema import CLOSED, LOST, OPEN, WON, Event
from grbp.live.starts import DRAWN, FIRST
from grbp.worlds.labels import NO_WORDS, Labels
from grbp.worlds.transition import Action, successors

if TYPE_CHECKING:
    from grbp.live.advice import Advice, AnyBasis, Status


def name_state(state: int, goal: int, labels: Labels = NO_WORDS) -> str:
    """Name a state by its word and number; without words the ends are the dead end and the goal."""
    if labels.states or 0 < state < goal:
        return labels.state(state)
    return f"the goal ({goal:,})" if state else "the dead end"


def name_ends(goal: int, labels: Labels) -> str:
    """Name the ends between which cases move."""
    return " to ".join(name_state(state, goal, labels) for state in (0, goal))


def describe_choice(choice: int, goal: int, labels: Labels = NO_WORDS, *, by_state: bool) -> str:
    """Say what a threshold means or, of a learner by state, a policy."""
    go, end = map(labels.do, Action)
    states = [state for state in range(1, goal) if choice >> (state - 1) & 1] if by_state else []
    if choice == 0:
        return f"{go} in every state"
    if len(states) == goal - 1:
        return f"{end} in every state"
    if by_state:
        return f"{end} in {labels.name_states(states)}, {go} elsewhere"
    if choice == goal - 1:
        return f"{end} in every state" + (", in order to learn" if goal > 2 else "")
    return f"{end} {'in' if choice == 1 else 'up to'} {labels.state(choice)}, {go} above"


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


HELD: Final = "does not count yet"
TAKEN_BACK: Final = "taken back"
_DAY: Final = 86_400.0


class EventLine(NamedTuple):
    """An event in words.

    Attributes
    ----------
    event : Event
    what : str
        What was recorded, in a sentence.
    notes : tuple of str
        What else is to be known: that the advice was overridden, that it does not count yet, that
        it was taken back.
    details : str
        What only statisticians want to know: the learner of a study, its seed, where it began.
    why : str
        The reason that was given, if one was.
    taken_back : bool
        Whether it was taken back.
    answered : dict
        What was answered; empty if the entry is damaged.
    """

    event: Event
    what: str
    notes: tuple[str, ...] = ()
    details: str = ""
    why: str = ""
    taken_back: bool = False
    answered: Mapping[str, Any] = MappingProxyType({})


class Recorded(NamedTuple):
    """What is known of an event that is to be put into words.

    Attributes
    ----------
    event : Event
    asked, answered : dict
        Its request and its response.
    goal : int
    labels : Labels
    shadow : bool
        Whether the study advises nobody; what is hidden then is None in what is asked and answered.
    waits : bool or None
        Whether it still does not count; None for as it was when it was recorded.
    """

    event: Event
    asked: dict[str, Any]
    answered: dict[str, Any]
    goal: int
    labels: Labels
    shadow: bool
    waits: bool | None


def word_study(entry: Recorded) -> EventLine:
    """Say to what a study was locked, and to statisticians by what it decides."""
    config, labels = entry.asked["config"], entry.labels
    parts = [
        f"from {name_ends(config['goal'], labels)}",
        *(
            say_window(action, seconds / _DAY, labels)
            for action, seconds in config["windows"].items()
        ),
        *(["shadow mode"] if config["shadow"] else []),
        *([f"groups {', '.join(config['groups'])}"] if config.get("groups") else []),
    ]
    details = f"{begin(_describe_learner(config))}." if config.get("learner") else ""
    return EventLine(entry.event, f"The study was set up: {', '.join(parts)}.", (), details)


def say_window(action: str, days: float, labels: Labels) -> str:
    """Say when an outcome of an action counts."""
    return f"an outcome of {labels.doing(action)} counts after {format_days(days)}"


def _describe_learner(config: dict[str, Any]) -> str:
    """Say by what a study decides."""
    start = config["start"]
    beginning = {DRAWN: "from drawn first estimates", FIRST: "with one first try of each"}
    began = beginning.get(start, "from records") if isinstance(start, str) else "from records"
    return f"learner {_name_kept(config['learner'])}, seed {config['seed']}, {began}"


def _name_kept(learner: Any) -> str:
    """Return the name of a learner as a configuration keeps it."""
    return str(learner if isinstance(learner, str) else learner["name"])


def word_change(entry: Recorded) -> EventLine:
    """Say which learner decides from now on, instead of which."""
    was, learner = entry.asked["was"], entry.asked["learner"]
    names = "" if learner is None else f" from {was} to {_name_kept(learner)}"
    return EventLine(entry.event, f"The learner was changed{names}.")


def word_opening(entry: Recorded) -> EventLine:
    """Say in which state a case was opened, and what was decided for it."""
    asked, answered, decided = entry.asked, entry.answered, ""
    if answered["known"] is not None:
        by_state = isinstance(answered["known"][1], list)
        choice, goal = answered["threshold"], entry.goal
        decided = f"; {describe_choice(choice, goal, entry.labels, by_state=by_state)}"
    group = f" of group {asked['group']}" if "group" in asked else ""
    return EventLine(
        entry.event, f"Opened in {entry.labels.state(asked['state'])}{group}{decided}."
    )


def word_step(entry: Recorded) -> EventLine:
    """Say what was done and where it led, what was advised instead, and if it counts."""
    answered, notes = entry.answered, []
    if answered["advised"] not in (None, answered["took"]):
        would = "would be" if entry.shadow else "was"
        notes.append(f"{entry.labels.doing(answered['advised'])} {would} advised")
    if not answered["counted"] if entry.waits is None else entry.waits:
        notes.append(HELD)
    done = describe_step(answered, entry.goal, entry.labels)
    return EventLine(entry.event, f"Step {entry.event.step:,}: {done}.", tuple(notes))


def describe_step(answered: dict[str, Any], goal: int, labels: Labels = NO_WORDS) -> str:
    """Say what was done and where it led, from what was answered when it was told."""
    before, after = labels.state(answered["from"]), name_state(answered["state"], goal, labels)
    return f"{labels.doing(answered['took'])} led from {before} to {after}"


def word_taking_back(entry: Recorded) -> EventLine:
    """Say what was taken back."""
    what = f"Step {entry.event.step:,}" if entry.event.step else "The withdrawal"
    did = "undone" if entry.asked.get("own") else "taken back"
    return EventLine(entry.event, f"{what} was {did}.")


def word_plainly(sentence: str) -> Callable[[Recorded], EventLine]:
    """Say of an entry what is said of all of its kind, which may name its step and its kind."""
    return lambda entry: EventLine(entry.event, sentence.format(entry.event))


word_archive: Final = word_plainly("The study was archived: it takes no more entries.")
word_unarchive: Final = word_plainly("The study was opened again for entries.")
word_mature: Final = word_plainly("Step {0.step:,} counts from now on: its waiting time is over.")
word_withdrawal: Final = word_plainly("Withdrawn.")
word_unknown: Final = word_plainly(
    "An entry of the kind {0.kind!r}, which this version does not know."
)
