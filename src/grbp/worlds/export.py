"""Write a problem in the languages of other tools, so that they can check our answers."""

from typing import TypeAlias

from grbp.worlds.problem import Problem
from grbp.worlds.transition import DEAD_END, Action, successors

ToyText: TypeAlias = dict[int, dict[int, list[tuple[float, int, float, bool]]]]
"""state -> action -> [(probability, next state, reward, terminated), ...]"""

_PRISM = """\
// A round of the gambler's ruin bandit problem.
mdp

const int goal_state = {problem.goal};
const double p_c = {problem.p_c!r};  // continue: one state up
const double p_f = {problem.p_f!r};  // finish: to the goal

module one_round
  started : bool init false;
  s : [0..goal_state] init 0;
  [start] !started ->
{start};
  [continue] started & s>0 & s<goal_state -> p_c:(s'=s+1) + (1-p_c):(s'=s-1);
  [finish] started & s>0 & s<goal_state -> p_f:(s'=goal_state) + (1-p_f):(s'=0);
  [over] started & (s=0 | s=goal_state) -> true;
endmodule

label "goal" = started & s=goal_state;
label "dead_end" = started & s=0;

rewards "slots"
  [continue] true : 1;
  [finish] true : 1;
endrewards
"""


def to_toy_text(problem: Problem) -> ToyText:
    """Return the transitions as the dictionary ``P`` of Gymnasium's toy-text environments.

    Parameters
    ----------
    problem : Problem
        The problem to write.

    Returns
    -------
    dict
        ``P[state][action]`` is a list of tuples (probability, next state, reward, terminated),
        for every state from 0 to goal. Both ends are absorbing and without reward, as in those
        environments.

    Notes
    -----
    Paper: sec:problem

    Examples
    --------
    >>> import grbp
    >>> table = grbp.to_toy_text(grbp.Problem(goal=4, p_c=0.25, p_f=0.5))
    >>> table[3][grbp.Action.CONTINUE]
    [(0.25, 4, 1.0, True), (0.75, 2, 0.0, False)]
    """
    goal, chances = problem.goal, {Action.CONTINUE: problem.p_c, Action.FINISH: problem.p_f}

    def transition(probability: float, state: int) -> tuple[float, int, float, bool]:
        return probability, state, float(state == goal), state in (DEAD_END, goal)

    table: ToyText = {DEAD_END: {}}
    for state in range(1, goal):
        table[state] = {}
        for action, p in chances.items():
            failed, succeeded = successors(goal, state, action == Action.FINISH)
            table[state][int(action)] = [transition(p, succeeded), transition(1.0 - p, failed)]
    for end in (DEAD_END, goal):
        table[end] = {int(action): [(1.0, end, 0.0, True)] for action in Action}
    return table


def to_prism(problem: Problem) -> str:
    """Return the problem as a model in the PRISM language, for PRISM, Storm and their relatives.

    Parameters
    ----------
    problem : Problem
        The problem to write.

    Returns
    -------
    str
        A Markov decision process of one round: the first step draws the first state, and then
        ``continue`` and ``finish`` are free. Numbers read back as the same floats.

    Notes
    -----
    ``Pmax=? [F "goal"]`` is V*, averaged over the first state; the reward "slots" counts actions.

    Paper: fig:GRBP

    Examples
    --------
    >>> import grbp
    >>> grbp.to_prism(grbp.Problem(goal=4, p_c=0.45, p_f=0.3)).splitlines()[4]
    'const double p_c = 0.45;  // continue: one state up'
    """
    if problem.start == "uniform":
        weights = [(s, f"1/{problem.goal - 1}") for s in range(1, problem.goal)]
    else:
        q = problem.start_probabilities.tolist()
        weights = [(s, repr(p)) for s, p in enumerate(q, start=1) if p > 0.0]
        # As exact fractions, rounded decimals need not sum to one: the largest takes the rest.
        k = max(range(len(weights)), key=lambda i: float(weights[i][1]))
        rest = " - ".join(["1", *(text for i, (_, text) in enumerate(weights) if i != k)])
        weights[k] = (weights[k][0], f"({rest})")
    start = " +\n".join(f"    {weight}:(started'=true)&(s'={s})" for s, weight in weights)
    return _PRISM.format(problem=problem, start=start)
