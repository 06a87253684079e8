"""Say what the entries of a log recorded: a function for each kind of event."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from grbp._format import begin, format_days
from grbp.live.policy_words import describe_choice, name_ends, name_state
from grbp.live.schema import Event
from grbp.live.starts import DRAWN, FIRST
from grbp.worlds.labels import NO_WORDS, Labels

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
