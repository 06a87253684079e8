"""What a study takes for granted, which is a matter of its learner: chances, and how they last.

"one" takes one chance for all states, as the paper does; "state" gives each state its own, and
"averaged" weighs both by what was seen. A memory is a part of a learner's name.
"""

import re
from contextlib import suppress
from typing import Any, Final

from grbp.errors import InvalidInput
from grbp.learners.memory import MemoryLike, check_memory
from grbp.learners.registry import (
    MODELS,
    STATE_LEARNERS,
    LearnerLike,
    add_setting,
    find_learner,
    is_path,
    learner_name,
)
from grbp.worlds.validation import check_goal

BY_STATE: Final = ("state", "averaged")
"""The models of learners by state; that of one of the user's own is the first unless he says so."""


def name_model(name: str) -> str:
    """Return the model of a learner of this package: "one", "state" or "averaged"."""
    name = learner_name(name).partition(":")[0]
    if name not in STATE_LEARNERS:
        return "one"
    return "averaged" if name == MODELS["averaged"] else "state"


def read_model(kept: Any) -> str:
    """Return the model of a learner as a configuration keeps it."""
    if isinstance(kept, str):
        return name_model(kept)
    model: str = kept.get("model") or name_model(kept["name"])
    return model


def _find_models(learner: LearnerLike, goal: object) -> tuple[str, ...]:
    """Return the models that a learner can have; that which it has unless somebody says so first.

    A learner by state of the user's own may take either of the two for granted.
    """
    name = name_learner(learner)
    told = name_model(name)
    if isinstance(learner, str) and not is_path(learner):
        return (told,)
    if find_learner(learner, check_goal(goal)).by_state:
        return BY_STATE if told == "one" else (told,)
    if told != "one":
        raise InvalidInput(
            f"the learner {name} was given, which decides a threshold; its name is that of one by"
            " state: give it another name"
        )
    return (told,)


def read_memory(name: str) -> MemoryLike | None:
    """Return the memory in the name of a learner; None if it never forgets."""
    found = re.findall(r"[:,]memory=([^,]*)", name)
    if not found:
        return None
    told: str | float = found[-1]
    with suppress(ValueError):
        told = float(found[-1])
    return check_memory(told) or None


def name_learner(learner: LearnerLike | None) -> str:
    """Return the name of a learner."""
    return learner if isinstance(learner, str) else str(getattr(learner, "name", learner))


def choose_learner(
    learner: LearnerLike | None, model: str | None, memory: object, goal: object
) -> tuple[LearnerLike, str]:
    """Return the learner of a new study and its model; refuse what was said and does not agree."""
    if model is not None and model not in MODELS:
        raise InvalidInput(f"model = {model!r} was given; it must be one of {', '.join(MODELS)}")
    if learner is None:
        learner = MODELS[model or "one"]
    models = _find_models(learner, goal)
    if model is not None and model not in models:
        raise InvalidInput(
            f"the model {model!r} and the learner {name_learner(learner)} were given; its model is"
            f" {models[0]!r}: leave one of the two out"
        )
    model = model or models[0]
    if memory is None:
        return learner, model
    told = check_memory(memory)
    written = told if isinstance(told, str) or not told.is_integer() else int(told)
    return add_setting(learner, f"memory={written}", check_goal(goal)), model
