"""The options of a new study."""

from typing import Any, Final

import grbp
from grbp.cli.options import TABLE_WORDS
from grbp.live.starts import DRAWN, FIRST

NEW_STUDY: Final[dict[str, dict[str, Any]]] = {
    "--goal": {"required": True, "help": "the state G that wins a case"},
    "--learner": {
        "default": grbp.DEFAULT_LEARNER,
        "help": f"the learner, with constants if you like ({grbp.DEFAULT_LEARNER})",
    },
    "--seed": {
        "default": "0",
        "help": "seed of the learner's draws and of drawn first estimates (0)",
    },
    "--start": {
        "choices": [DRAWN, FIRST],
        "help": "drawn first estimates, or one first step of each action (drawn)",
    },
    "--records": {"metavar": "CASES.csv", "help": "begin with past cases, as grbp fit reads them"},
    **TABLE_WORDS,
    "--cases": {
        "metavar": "N",
        "help": "about how many will come, rather too many than too few (nobody knows)",
    },
    "--window": {
        "metavar": "ACTION=DAYS",
        "action": "append",
        "help": "count an outcome only after this many days: finish=30",
    },
    "--shadow": {"action": "store_true", "help": "advise nobody, learn by watching"},
    "--level": {"default": "0.95", "help": "the level of the intervals (0.95)"},
}
