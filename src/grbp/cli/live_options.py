"""The options of a new study."""

from typing import Any, Final

from grbp.cli.options import TABLE_WORDS
from grbp.learners.registry import MODELS
from grbp.live.starts import DRAWN, FIRST

_DEFAULTS: Final = ", ".join(f"{model}={learner}" for model, learner in MODELS.items())

NEW_STUDY: Final[dict[str, dict[str, Any]]] = {
    "--goal": {"help": "the state that wins a case (that of --states, or of the study --from)"},
    "--states": {
        "metavar": "WORDS",
        "help": "what the states are called, from 0 to the goal: dead,severe,mild,home",
    },
    "--actions": {
        "metavar": "WORDS",
        "help": "what continuing and finishing are called: medication,surgery",
    },
    "--case-name": {
        "metavar": "WORD",
        "help": "what a case is called: patient, or also several: person,people (case)",
    },
    "--learner": {
        "help": f"the learner, with constants if you like (that of the model: {_DEFAULTS})",
    },
    "--model": {
        "choices": list(MODELS),
        "help": "what is taken for granted: one chance for all states, or one in each (one)",
    },
    "--memory": {
        "metavar": "CASES",
        "help": "how many cases are remembered, or averaged: for chances that change (all)",
    },
    "--groups": {
        "metavar": "NAMES",
        "help": "groups with counts of their own, such as north,south (none)",
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
    "--from": {
        "metavar": "STUDY",
        "dest": "old",
        "help": "begin with the cases of another study of the store",
    },
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
