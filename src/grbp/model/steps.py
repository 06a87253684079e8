"""Name the columns of a table of steps once, for those who write one and those who read it."""

from typing import Final

STEP_COLUMNS: Final = ("case", "step", "state", "action", "next_state")
"""One row for each step: its case, its number, the state before, the action, the state after."""
