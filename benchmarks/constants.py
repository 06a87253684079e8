"""What a doorstep learner regrets with other constants: a wrong horizon, prior, lean, patience."""

from collections.abc import Sequence

from columns import Columns
from grbp.learners.doorstep_stopping import Leaning
from measure import Effort
from regrets import DEFAULT, ROUNDS, brief, place, points, seeds, three

_TOLD = (DEFAULT, "doorstep-bayes")


def horizon(effort: Effort) -> list[Columns]:
    """What it costs to be told a wrong horizon."""
    told = [f"{name}:horizon={h}" for h in (500, 5000, 50_000) for name in _TOLD]
    what = f"Told a horizon, right (5,000) or wrong by a factor of ten; {ROUNDS:,} rounds."
    return [_three(effort, what, [*_TOLD, *sorted(told)])]


def prior(effort: Effort) -> list[Columns]:
    """What the constants of the default do."""
    each = (
        ("prior", "The prior Beta(a, a) of p_f", (0.5, 1, 1.25, 2.5, 10)),
        ("lean", "By how many deviations p_c is raised at most", (0.01, 0.5, 1, 2)),
        ("least", "The least evidence to give up on", (0.01, 1, 2, 4)),
    )
    chosen = Leaning()
    return [
        _three(
            effort,
            f"{what} (by default {name} = {getattr(chosen, name):g}).",
            [f"{DEFAULT}:{name}={a:g}" for a in tried],
        )
        for name, what, tried in each
    ]


def _three(effort: Effort, what: str, learners: Sequence[str]) -> Columns:
    """The three figures of some learners."""
    sizes = effort.choose(500, 50_000), effort.choose(100, 5000), effort.choose(10, 400)
    table = Columns(
        f"{what} Fig. 3: {sizes[0]:,} replicas, Fig. 4: {sizes[1]:,}, both with seed 0; grid:"
        f" {sizes[2]:,} a point, {seeds(effort)}",
        ("", "Fig. 3", "Fig. 4", "mean of grid", "most on grid", "at"),
    )
    for name in learners:
        found = three(effort, name, sizes)
        k = int(found.grid.mean.argmax())
        cells = map(str, (found.fig3, found.fig4, found.grid.all, found.grid.at(k)))
        table.rows.append((brief(name), *cells, place(points(effort)[k])))
    return table
