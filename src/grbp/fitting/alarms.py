"""The alarms of records whose actions a learner chose: those of a study that is watched live."""

from grbp.fitting.transitions import Transitions
from grbp.fitting.watch import Alarm, Step, Tally, Watch, find_alarms
from grbp.numerics.arrays import Bools, Ints
from grbp.records.clean import Records

NO_ORDER = "These rows have no order, so that no alarm over time is possible."


def watch_records(records: Records, level: float) -> tuple[Alarm, ...]:
    """Return the alarms that rose when each move was looked at, in the order of the cases.

    Cases are numbered from 1. Aggregated rows have no order: their counts are looked at once.
    """
    moves = Transitions(records)
    counted = moves.stepped | moves.finished
    success = counted & (records.next_state > records.state)
    groups = max(len(records.groups), 1)
    if records.aggregated:
        return find_alarms(*_tally(moves, success, groups), level)
    watch = Watch.start(records.goal, groups, level)
    columns = records.case + 1, records.group, records.state, moves.finished, success
    for row in zip(*(column[counted].tolist() for column in columns), strict=True):
        watch = watch.follow(Step(*row))
    return watch.alarms()


def _tally(
    moves: Transitions, success: Bools, groups: int
) -> tuple[tuple[Tally, Tally], tuple[Tally, Tally]]:
    """Count both actions by state and by group."""

    def by_group(rows: Bools) -> tuple[int, ...]:
        counts: Ints = moves.count_by_group(rows)
        return (*counts.tolist(), *(0,) * (groups - len(counts)))

    states = (
        Tally(tuple(moves.ups.tolist()), tuple(moves.downs.tolist())),
        Tally(tuple(moves.wins.tolist()), tuple(moves.losses.tolist())),
    )
    kinds = [
        Tally(by_group(rows & success), by_group(rows & ~success))
        for rows in (moves.stepped, moves.finished)
    ]
    return states, (kinds[0], kinds[1])
