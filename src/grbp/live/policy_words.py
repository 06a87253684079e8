"""Name states, and say what a threshold or a policy does in them."""

from grbp.worlds.labels import NO_WORDS, Labels
from grbp.worlds.transition import Action


def name_state(state: int, goal: int, labels: Labels = NO_WORDS) -> str:
    """Name a state by its word and number; without words the ends are the dead end and the goal."""
    if labels.states or 0 < state < goal:
        return labels.state(state)
    return f"the goal ({goal:,})" if state else "the dead end"


def name_ends(goal: int, labels: Labels) -> str:
    """Name the ends between which cases move."""
    return " to ".join(name_state(state, goal, labels) for state in (0, goal))


def name_goal(goal: int, labels: Labels) -> str:
    """Name the goal, by its word if it has one."""
    return labels.state(goal) if labels.states else "the goal"


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
