"""What is asked of a server that plays simulations for the explorer, and what it answers."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_LEARNERS, MOST_ROUNDS, MOST_REPLICAS, LARGEST_GOAL = 6, 100_000, 2_000, 50
"""The largest simulation; one that would still take too long is refused when that is seen."""

_LEARNER: Final = {"name": "getbe-sm", "summary": "Trust the sample means", "gamma": 15.0}
_CURVE: Final = {
    "learner": "getbe-sm", "mean": [0.1, 7.5], "low": [0.09, 7.1], "high": [0.11, 7.9],
    "covered": True, "thresholds": {"0": 0.01, "1": 0.98, "3": 0.01},
}  # fmt: skip
_VERDICT: Final = {
    "claim": "the optimal policy is threshold 0", "where": "Fig. 4", "outcome": "held",
    "evidence": "exact: V(0) = 0.733486, V(1) = 0.623948",
    "why": "p_f = 0.3 is below the boundary B(0.65) = 0.503899 (Theorem 2)",
}  # fmt: skip


def _describe(example: dict[str, Any], *, strict: bool = False) -> ConfigDict:
    """Describe a model by an example."""
    return ConfigDict(extra="forbid", strict=strict, json_schema_extra={"examples": [example]})


class LearnerModel(BaseModel):
    """A learner that can be simulated."""

    model_config = _describe(_LEARNER)

    name: str
    summary: str
    gamma: float | None = Field(description="its gamma, if it has one")


class ExplorerModel(BaseModel):
    """What can be simulated here."""

    model_config = _describe(
        {
            "learners": [_LEARNER], "most_learners": MOST_LEARNERS, "most_rounds": MOST_ROUNDS,
            "most_replicas": MOST_REPLICAS, "allowed": True, "missing": None,
        }
    )  # fmt: skip

    learners: list[LearnerModel]
    most_learners: int
    most_rounds: int
    most_replicas: int
    allowed: bool = Field(description="whether the caller may simulate and see the verdicts")
    missing: str | None = Field(description="why nothing can be simulated; null if it can")


class NewSimulation(BaseModel):
    """A simulation to be run."""

    model_config = _describe(
        {"goal": 4, "p_c": 0.45, "p_f": 0.3, "start": 2, "learners": ["getbe-sm:gamma=15"]},
        strict=True,
    )

    goal: int = Field(ge=2, le=LARGEST_GOAL)
    p_c: float = Field(ge=0.0, le=1.0)
    p_f: float = Field(ge=0.0, le=1.0)
    start: Annotated[int, Field(ge=1, lt=LARGEST_GOAL)] | Literal["uniform"] = "uniform"
    learners: list[Annotated[str, Field(min_length=1, max_length=100)]] = Field(
        min_length=1, max_length=MOST_LEARNERS, description="names, also with constants"
    )
    rounds: int = Field(5_000, ge=1, le=MOST_ROUNDS)
    replicas: int = Field(1_000, ge=2, le=MOST_REPLICAS)
    seed: int = Field(0, ge=0, lt=2**32)


class CurveModel(BaseModel):
    """The regret of a learner at each checkpoint: its mean, and a band that holds all of it."""

    model_config = _describe(_CURVE)

    learner: str
    mean: list[float]
    low: list[float]
    high: list[float]
    covered: bool = Field(description="whether the band can be trusted")
    thresholds: dict[str, float] = Field(description="the share of rounds with each threshold")


class SimulationModel(BaseModel):
    """How far a simulation is, and what it has found."""

    model_config = _describe(
        {
            "id": "8Jx0pFqZ1bWc", "status": "done", "learner": "getbe-sm", "done": 1_000,
            "total": 1_000, "detail": None,
            "command": "grbp simulate --goal 4 --p-c 0.45 --p-f 0.3 --learner getbe-sm",
            "checkpoints": [1, 5_000], "curves": [_CURVE],
        }
    )  # fmt: skip

    id: str
    status: Literal["running", "done", "failed"]
    learner: str = Field(description="the learner that plays now")
    done: int = Field(description="its replicas that are done")
    total: int
    detail: str | None = Field(description="why it has failed")
    command: str = Field(description="the shell command that gives the same numbers")
    checkpoints: list[int]
    curves: list[CurveModel]


class VerdictModel(BaseModel):
    """A claim of the paper, and what was found."""

    model_config = _describe(_VERDICT)

    claim: str
    where: str
    outcome: Literal["held", "did not hold", "cannot be decided"]
    evidence: str
    why: str


class VerdictsModel(BaseModel):
    """The verdicts on all claims."""

    model_config = _describe(
        {
            "items": [_VERDICT], "legend": "asked: the paper does not say so, we asked.",
            "tally": "1 claims: 1 held, 0 did not hold, 0 cannot be decided", "missing": [],
            "made": "2026-11-16T08:00:00+00:00", "replicas": 10_000,
            "command": "grbp reproduce --out results",
        }
    )  # fmt: skip

    items: list[VerdictModel]
    legend: str
    tally: str
    missing: list[str] = Field(description="the experiments without a result here")
    made: str | None = Field(description="when the results were measured")
    replicas: int | None = Field(description="how many replicas the paper's curves have")
    command: str = Field(description="the command that measures them")
