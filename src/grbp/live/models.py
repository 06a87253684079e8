"""What a study takes for granted, which is a matter of its learner: chances, and how they last.

"one" takes one chance for all states, as the paper does; "state" gives each state its own, and
"averaged" weighs both by what was seen. A memory is a part of a learner's name.
"""

import re
from contextlib import suppress

from grbp.errors import InvalidInput
from grbp.learners.memory import MemoryLike, check_memory
from grbp.learners.registry import MODELS, STATE_LEARNERS, LearnerLike, learner_name


def is_by_state(name: str) -> bool:
    """Return whether a learner, by its name, decides by state."""
    return learner_name(name).partition(":")[0] in STATE_LEARNERS


def name_model(name: str) -> str:
    """Return the model of a learner: "one", "state" or "averaged"."""
    if not is_by_state(name):
        return "one"
    averaged = learner_name(name).partition(":")[0] == MODELS.get("averaged")
    return "averaged" if averaged else "state"


def read_memory(name: str) -> MemoryLike | None:
    """Return the memory in the name of a learner; None if it never forgets."""
    found = re.findall(r"[:,]memory=([^,]*)", name)
    if not found:
        return None
    told: str | float = found[-1]
    with suppress(ValueError):
        told = float(found[-1])
    return check_memory(told) or None


def name_learner(learner: LearnerLike) -> str:
    """Return the name of a learner."""
    return learner if isinstance(learner, str) else str(getattr(learner, "name", learner))


def choose_learner(learner: LearnerLike | None, model: str | None, memory: object) -> LearnerLike:
    """Return the learner of a new study, from what was said of it; refuse what does not agree."""
    if model is not None and model not in MODELS:
        raise InvalidInput(f"model = {model!r} was given; it must be one of {', '.join(MODELS)}")
    if learner is None:
        learner = MODELS[model or "one"]
    name = name_learner(learner)
    if model is not None and name_model(name) != model:
        raise InvalidInput(
            f"the model {model!r} and the learner {name} were given; its model is"
            f" {name_model(name)!r}: leave one of the two out"
        )
    if memory is None:
        return learner
    if not isinstance(learner, str):
        raise InvalidInput(
            f"memory = {memory!r} was given with a learner that is no name; set it there"
        )
    told = check_memory(memory)
    written = told if isinstance(told, str) or not told.is_integer() else int(told)
    return f"{learner}{',' if '=' in learner else ':'}memory={written}"
