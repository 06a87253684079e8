"""A problem in the languages of other tools."""

from collections.abc import Iterator
from typing import TypeAlias

from grbp.model.problem import Problem
from grbp.model.transition import DEAD_END, Action

ToyText: TypeAlias = dict[int, dict[int, list[tuple[float, int, float, bool]]]]
"""state -> action -> [(probability, next state, reward, terminated), ...]"""


def to_toy_text(problem: Problem) -> ToyText:
    """The transitions as the dictionary `P` of Gymnasium's toy-text environments.

    Both ends are absorbing, without reward, as in those environments.

    Paper: sec:problem
    """
    goal, p_c, p_f = problem.goal, problem.p_c, problem.p_f

    def to(probability: float, state: int) -> tuple[float, int, float, bool]:
        return probability, state, float(state == goal), state in (DEAD_END, goal)

    table: ToyText = {
        end: {int(action): [(1.0, end, 0.0, True)] for action in Action} for end in (DEAD_END, goal)
    }
    for state in range(1, goal):
        table[state] = {
            int(Action.CONTINUE): [to(p_c, state + 1), to(1.0 - p_c, state - 1)],
            int(Action.FINISH): [to(p_f, goal), to(1.0 - p_f, DEAD_END)],
        }
    return dict(sorted(table.items()))


def to_prism(problem: Problem) -> str:
    """The problem as a model in the PRISM language, for PRISM, Storm and their relatives.

    One round: the first step draws its first state, then `continue` and `finish` are free.
    `Pmax=? [F "goal"]` is V*, averaged over the start; the reward "slots" counts actions.
    Numbers are written so that they read back as the same floats.

    Paper: fig:GRBP
    """
    return "\n".join(_prism_lines(problem)) + "\n"


def _prism_lines(problem: Problem) -> Iterator[str]:
    yield "// A round of the gambler's ruin bandit problem."
    yield "mdp"
    yield ""
    yield f"const int goal_state = {problem.goal};"
    yield f"const double p_c = {problem.p_c!r};  // continue: one state up"
    yield f"const double p_f = {problem.p_f!r};  // finish: to the goal"
    yield ""
    yield "module one_round"
    yield "  started : bool init false;"
    yield "  s : [0..goal_state] init 0;"
    yield "  [start] !started ->"
    yield from _prism_start(problem)
    yield "  [continue] started & s>0 & s<goal_state -> p_c:(s'=s+1) + (1-p_c):(s'=s-1);"
    yield "  [finish] started & s>0 & s<goal_state -> p_f:(s'=goal_state) + (1-p_f):(s'=0);"
    yield "  [over] started & (s=0 | s=goal_state) -> true;"
    yield "endmodule"
    yield ""
    yield 'label "goal" = started & s=goal_state;'
    yield 'label "dead_end" = started & s=0;'
    yield ""
    yield 'rewards "slots"'
    yield "  [continue] true : 1;"
    yield "  [finish] true : 1;"
    yield "endrewards"


def _prism_start(problem: Problem) -> Iterator[str]:
    if problem.start == "uniform":
        weights = [(s, f"1/{problem.goal - 1}") for s in range(1, problem.goal)]
    else:
        q = problem.start_probabilities.tolist()
        weights = [(s, repr(p)) for s, p in enumerate(q, start=1) if p > 0.0]
        # As exact fractions, rounded decimals need not sum to one: the largest takes the rest.
        k = max(range(len(weights)), key=lambda i: float(weights[i][1]))
        rest = " - ".join(["1", *(text for i, (_, text) in enumerate(weights) if i != k)])
        weights[k] = (weights[k][0], f"({rest})")
    for state, weight in weights:
        end = ";" if state == weights[-1][0] else " +"
        yield f"    {weight}:(started'=true)&(s'={state}){end}"
