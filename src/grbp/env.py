"""The problem as a Gymnasium environment, and a wrapper that records what is done in it.

Importing this package registers the environment. Gymnasium imports it by itself where the name
of the package stands before that of the environment::

    gymnasium.make("grbp.env:grbp/GamblersRuin-v0", goal=4, p_c=0.45, p_f=0.3)
    gymnasium.make_vec("grbp.env:grbp/GamblersRuin-v0", num_envs=100, goal=4, p_c=0.45, p_f=0.3)
"""

from typing import Final

from grbp.errors import MissingExtra, how_to_install

try:
    from gymnasium import register, registry

    from grbp.session.gym_recording import RecordSteps
    from grbp.session.gym_rounds import GamblersRuinEnv, GamblersRuinVectorEnv
except ImportError as error:
    raise MissingExtra(
        f"grbp.env needs Gymnasium 1.1 or later; {how_to_install('gymnasium')}"
    ) from error

__all__ = ["ENV_ID", "GamblersRuinEnv", "GamblersRuinVectorEnv", "RecordSteps"]

ENV_ID: Final = "grbp/GamblersRuin-v0"
"""The name of the environment in Gymnasium's registry."""

if ENV_ID not in registry:
    register(
        ENV_ID,
        entry_point="grbp.env:GamblersRuinEnv",
        vector_entry_point="grbp.env:GamblersRuinVectorEnv",
    )
