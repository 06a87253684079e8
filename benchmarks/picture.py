"""The paper's work in every way, as a picture: nanoseconds a round on a logarithmic scale."""

from pathlib import Path

from grbp._palette import PALETTE
from groups.paper import CPP, GYMNASIUM, NUMPY, OURS, PYTHON, WALKING, Speeds, title
from yardsticks.work import LEARNERS, P_C

NAMES = {
    OURS: "grbp",
    WALKING: "grbp, walking every step",
    CPP: "tuned step loop in C++",
    NUMPY: "NumPy over replicas",
    PYTHON: "plain Python loop",
    GYMNASIUM: "Gymnasium loop",
}
BLUE, PALE, GREY = (PALETTE[name].light for name in ("link", "field", "line"))


def draw(speeds: Speeds, machine: str, file: Path) -> None:
    """Nothing; writes the picture."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (slow to import)

    engines = [engine for engine in NAMES if (engine, LEARNERS[0], P_C[0]) in speeds]
    figure = Figure(figsize=(11, 1.5 + 0.45 * len(engines)), dpi=150, layout="constrained")
    panels = figure.subplots(1, len(LEARNERS), sharey=True, sharex=True)
    for panel, learner in zip(panels, LEARNERS, strict=True):
        times = [
            sum(speeds[engine, learner, p_c] for p_c in P_C) / len(P_C) * 1e9 for engine in engines
        ]
        colours = [BLUE if e == OURS else PALE if e == WALKING else GREY for e in engines]
        bars = panel.barh(range(len(engines)), times, color=colours, height=0.72)
        panel.bar_label(bars, [_label(time, times[0]) for time in times], padding=4, fontsize=8.5)
        panel.set_title(title(learner), fontsize=11, loc="left")
        panel.set_xscale("log")
        panel.set_yticks(range(len(engines)), [NAMES[engine] for engine in engines])
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="x", color=PALETTE["line"].light)
        panel.set_axisbelow(True)
        panel.tick_params(axis="y", length=0)
        panel.set_xlabel("ns a round")
    panels[0].invert_yaxis()
    # Every bar begins at 1 ns, and the longest one's label needs room.
    panels[0].set_xlim(1.0, (max(speeds.values()) * 1e9) ** 1.5)
    figure.suptitle(
        f"One round of the paper's work (mean of p_C = .45 and .65), one thread, {machine}",
        fontsize=11,
        x=0.01,
        ha="left",
    )
    figure.savefig(file)


def _label(time: float, ours: float) -> str:
    """A bar's words: its time, and how many times ours it is."""
    times = time / ours
    beside = "" if times == 1.0 else f"  ({times:,.{0 if times >= 9.95 else 1}f}x)"
    return f"{time:,.{0 if time >= 99.5 else 1}f}{beside}"
