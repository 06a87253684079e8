"""What is shown of a study in shadow mode, in which nobody is advised."""

from typing import Any, Final

_ADVICE: Final = frozenset(
    {"threshold", "next_threshold", "action", "advised", "forced", "other_better", "side"}
)
"""What an answer calls the parts that say what would be advised."""


def hide_advice(value: Any, *, shadow: bool, examiner: bool = False) -> Any:
    """Return an answer about a study as somebody may see it.

    An answer is in plain types, as JSON has them. In shadow mode, only those who examine the study
    see what it would advise; for all others it is None.
    """
    if examiner or not shadow:
        return value
    if isinstance(value, dict):
        return {
            name: None if name in _ADVICE else hide_advice(part, shadow=shadow)
            for name, part in value.items()
        }
    return [hide_advice(one, shadow=shadow) for one in value] if isinstance(value, list) else value
