"""What people call the states, the actions and the cases, beside their numbers."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from grbp._format import begin, join_words
from grbp.errors import InvalidInput, did_you_mean
from grbp.worlds.transition import Action

ACTIONS: Final = ("CONTINUE", "FINISH")
"""What the actions are called where nobody has words of their own."""

CASE: Final = ("case", "cases")
"""What one case is called, and several, where nobody has words of their own."""

_DO: Final = ("continue", "finish")
_DOING: Final = ("continuing", "finishing")


class Labels(NamedTuple):
    """What states and actions are called.

    Attributes
    ----------
    states : tuple of str
        The word for each state from 0 to the goal, or none at all; empty where a state has no word.
    actions : tuple of str
        The words for CONTINUE and FINISH.
    case : tuple of str
        The words for one case, and for several.

    Examples
    --------
    >>> from grbp.worlds.labels import Labels
    >>> words = Labels(("dead", "severe", "home"), ("medication", "surgery"))
    >>> words.state(1), words.action("finish"), words.count_cases(2)
    ('severe (1)', 'surgery', '2 cases')
    >>> words.read_state("Severe"), words.read_action("surgery")
    (1, 'finish')
    >>> words.do("finish"), words.doing("continue")
    ('surgery', 'medication')
    >>> Labels().state(1), Labels().do("finish"), Labels().doing("continue")
    ('state 1', 'finish', 'continuing')
    """

    states: tuple[str, ...] = ()
    actions: tuple[str, str] = ACTIONS
    case: tuple[str, str] = CASE

    def to_dict(self) -> dict[str, list[str]]:
        """Return all of it in plain types."""
        return {name: list(part) for name, part in self._asdict().items()}

    def action(self, action: Action | str) -> str:
        """Name an action, which is given as such or by its own name."""
        return self.actions[_as_action(action)]

    def do(self, action: Action | str) -> str:
        """Say what to do, as in "surgery" or "finish"."""
        return (_DO if self.actions == ACTIONS else self.actions)[_as_action(action)]

    def doing(self, action: Action | str) -> str:
        """Name what is done, as in "surgery led to ..." or "finishing led to ..."."""
        return (_DOING if self.actions == ACTIONS else self.actions)[_as_action(action)]

    def name_case(self, number: int) -> str:
        """Name a case by its number."""
        return f"{self.case[0]} {number:,}"

    def count_cases(self, number: int) -> str:
        """Write how many cases there are."""
        return f"{number:,} {self.case[number != 1]}"

    def read_state(self, given: object) -> object:
        """Return the number of a state that is given by its word; anything else as it is."""
        if not isinstance(given, str):
            return given
        known = {fold_word(word): state for state, word in enumerate(self.states) if word}
        state = known.get(fold_word(given))
        if state is not None:
            return state
        if given.strip().isdecimal() and given.isascii():
            return int(given)
        words = list(filter(None, self.states))
        named = f", or one of {', '.join(words)}" if words else ""
        near = did_you_mean(given, words)
        raise InvalidInput(
            f"state = {given!r} was given; it must be a whole number{named}"
            f"{f' ({near})' if near else ''}"
        )

    def read_action(self, given: object) -> object:
        """Return "continue" or "finish" for the word of an action; anything else as it is."""
        if not isinstance(given, str):
            return given
        ours, known = (
            dict(zip(map(fold_word, names), _DO, strict=True)) for names in (ACTIONS, self.actions)
        )
        return (ours | known).get(fold_word(given), given)

    def state(self, state: int) -> str:
        """Name a state, with its number."""
        word = self.states[state] if self.states else ""
        return f"{word} ({state:,})" if word else f"state {state:,}"

    def name_states(self, states: Iterable[int], last: str = "and") -> str:
        """Name several states: "states 1 and 2", or "severe (1) and mild (2)"."""
        numbers = list(states)
        if any(self.states):
            return join_words(map(self.state, numbers), last)
        listed = join_words((f"{state:,}" for state in numbers), last)
        return f"state{'s' if numbers[1:] and last == 'and' else ''} {listed}"

    @property
    def own(self) -> bool:
        """Whether there are own words for anything."""
        return any(self.states) or self.actions != ACTIONS or self.case != CASE

    def tell(self, text: str) -> str:
        """Tell a sentence to people: in their own words, and without symbols.

        Examples
        --------
        >>> from grbp.worlds.labels import Labels
        >>> words = Labels(("dead", "severe", "home"), ("medication", "surgery"))
        >>> words.tell("Finish in state 1: p_F is large.")
        'Choose surgery in severe (1): the chance that surgery wins is large.'
        """
        go, end = self.actions
        meant = {
            "B(p_C)": "the break-even",
            "a p_F": f"a chance to win by {end}",
            "p_C": f"the chance that {go} moves up",
            "p_F": f"the chance that {end} wins",
            "threshold 0": f"never {end}",
            "threshold 1": f"{end} in {self.state(1)} alone",
            "neither threshold": "neither of these two policies",
            "CONTINUE": go,
            "FINISH": end,
            **dict(zip(CASE, self.case, strict=True)),
        }
        for verb, (usual, word) in zip(
            _VERBS, zip(ACTIONS, self.actions, strict=True), strict=True
        ):
            if word != usual:
                meant |= {form: f"{choose} {word}" for form, choose in verb.items()}

        def say(found: re.Match[str]) -> str:
            word = found[0]
            if found["state"]:
                state = int(found["state"])
                said = self.state(state) if state < len(self.states) else word
            else:
                said = meant.get(word) or meant.get(word.lower()) or word
            starts = found.start() == 0 or text[: found.start()].endswith((". ", "? "))
            return begin(said) if starts or word.istitle() else said

        verbs = "|".join(form for verb in _VERBS for form in verb)
        pattern = (
            r"\bB\(p_C\)|\b(?:a p_F|p_[CF])\b|\bneither threshold\b|\bthreshold [01]\b"
            rf"|\bstate (?P<state>[0-9]+)\b|\b(?:CONTINUE|FINISH|cases?)\b|\b(?i:{verbs})\b"
        )
        return re.sub(pattern, say, text)


NO_WORDS: Final = Labels()
"""What everything is called where nobody has words of their own."""

_VERBS: Final[tuple[Mapping[str, str], ...]] = (
    {"continue": "choose", "continues": "chooses", "continued": "chose", "continuing": "choosing"},
    {"finish": "choose", "finishes": "chooses", "finished": "chose", "finishing": "choosing"},
)
"""How to say of another action what is said of CONTINUE and FINISH."""


def _as_action(action: Action | str) -> Action:
    return action if isinstance(action, Action) else Action[action.upper()]


def fold_word(word: str) -> str:
    """Return what words have in common that people take for the same."""
    return unicodedata.normalize("NFKC", word).casefold().strip()
